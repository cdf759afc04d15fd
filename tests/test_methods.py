"""Methods by name: what is wrong is named, what is asked for is made, what is listed is documented."""

from typing import Literal

import pytest

from discreet import methods as registry
from discreet.errors import InputError
from discreet.methods import convert
from discreet.microdata.methods.mdav import Mdav
from discreet.microdata.methods.tour import Tour
from discreet.microdata.methods.vmdav import Vmdav


@pytest.mark.parametrize("name", registry.names())
def test_every_method_can_be_made(name: str) -> None:
    assert type(registry.make(name, {})).__name__.lower() == name.replace("-", "")


def test_a_name_may_stand_in_two_families() -> None:
    assert type(registry.make("exact", {})) is not type(registry.make("exact", {}, "suppression"))
    with pytest.raises(
        InputError, match=r"no method 'gom' \(did you mean 'gomm'\?\); the methods: gomm, d-gomm, pareto"
    ):
        registry.make("gom", {}, "grouping")


@pytest.mark.parametrize("name", [name for name in registry.names("suppression") if name[2] == "-"])
def test_a_variant_is_made_by_its_name_alone(name: str) -> None:
    made = registry.make(name, {"clean": "yes", "population": "4"}, "suppression")
    assert (made.variant, made.clean, made.population) == (name, True, 4)
    with pytest.raises(InputError, match=f"{name} has no parameter 'variant'"):
        registry.make(name, {"variant": "ga-swap"}, "suppression")


def test_texts_become_values_of_the_parameters_type() -> None:
    assert registry.make("vmdav", {"gamma": "0.2"}) == Vmdav(gamma=0.2)
    assert registry.make("vmdav", {"gamma": "auto"}) == Vmdav(gamma="auto")
    assert registry.make("vmdav", {"gamma": 1.1}) == Vmdav(gamma=1.1)
    assert registry.make("mdav", {"ending": "chapter"}) == Mdav(ending="chapter")
    assert registry.make("tour", {"order": "mdav"}) == Tour(order="mdav")


def test_an_unknown_method_is_told_the_nearest_and_all() -> None:
    with pytest.raises(InputError, match=r"no method 'mdva' \(did you mean 'mdav'\?\).*vmdav.*tour"):
        registry.make("mdva", {})


def test_an_unknown_parameter_is_told_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"vmdav has no parameter 'gama' \(did you mean 'gamma'\?\).*: gamma"):
        registry.make("vmdav", {"gama": 1})
    with pytest.raises(InputError, match="md has no parameter 'gamma'; its parameters: none"):
        registry.make("md", {"gamma": 1})


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("mdav", {"ending": "other"}, r"ending is 'other'; it must be .*'generic'.*'chapter'"),
        ("mdav", {"ending": 3}, r"ending is 3; it must be one of 'generic', 'chapter'"),
        ("tour", {"order": "random"}, r"order is 'random'; it must be .*'curve'.*'nearest'.*'mdav'"),
        ("vmdav", {"gamma": -0.5}, r"gamma is -0.5; it must be 'auto' or a finite number of at least 0"),
        ("vmdav", {"gamma": "-0.5"}, r"gamma is -0.5"),
        ("vmdav", {"gamma": "nan"}, r"gamma is nan"),
        ("vmdav", {"gamma": True}, r"gamma is True"),
        ("vmdav", {"gamma": "much"}, r"gamma is 'much'; it must be a number or 'auto'"),
    ],
)
def test_a_wrong_value_names_itself_and_what_is_allowed(name: str, params: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        registry.make(name, params)


def test_all_families_are_described() -> None:
    found = [(entry.family, entry.name) for entry in registry.list_methods()]
    assert found == [(family, name) for family in registry.FAMILIES for name in registry.names(family)]


@pytest.mark.parametrize("entry", registry.list_methods(), ids=lambda entry: f"{entry.family}-{entry.name}")
def test_every_method_is_documented(entry: registry.Description) -> None:
    assert entry.summary.endswith(".")
    assert len(entry.reference) > 40
    for parameter in entry.parameters:
        assert parameter.type
        assert parameter.description.endswith(".")


def test_describe_gives_names_defaults_and_texts() -> None:
    vmdav = next(entry for entry in registry.list_methods() if entry.name == "vmdav")
    assert [(p.name, p.default) for p in vmdav.parameters] == [("gamma", "auto")]
    assert vmdav.parameters[0].description.startswith("Gain factor")
    assert "V-MDAV: a multivariate microaggregation" in vmdav.reference


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        ("3", int, 3),
        ("3", float, 3.0),
        ("3", int | None, 3),
        ("none", int | None, None),
        ("yes", bool, True),
        ("off", bool, False),
        ("auto", float | Literal["auto"], "auto"),
        ("2", Literal[1, 2], 2),
        ("2", str, "2"),
    ],
)
def test_conversion(text: str, target: object, value: object) -> None:
    assert convert("x", text, target) == value
    assert type(convert("x", text, target)) is type(value)


def test_conversion_refuses_what_it_cannot_read() -> None:
    with pytest.raises(InputError, match=r"x is '1\.5'; it must be a whole number or 'none'"):
        convert("x", "1.5", int | None)
