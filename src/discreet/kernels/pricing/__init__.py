"""Pricing and separation for set partitioning."""
