"""The web app: a local page over the public verbs, behind a guard of its own. No algorithm or measure lives here."""
