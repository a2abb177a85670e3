"""Methods that take one text or columns of texts."""

import sys
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

from kerasnmt.columns import check_same_index, without_tensor

_Parameters = ParamSpec("_Parameters")
_COLUMNS = ("texts", "sources", "targets", "contexts", "prefixes")
_LISTS = ("terms", "forbidden")  # a list for each text


def one_or_many(method: Callable[_Parameters, Any]) -> Callable[_Parameters, Any]:
    """Let a method that takes columns of texts also take one text, and return its result alone.

    A pandas Series as the first column gives a Series with the same index.

    Args:
        method: Method whose first argument is a column of texts, and which returns a list with a
            row for each of them. Other columns are `targets`, `contexts` and `prefixes`. `terms`
            and `forbidden` have a list for each text, and are that list for one text.

    Raises:
        ValueError: If one column is a string and another is not, or two Series have different
            indexes.
    """
    parameters = signature(method)
    _, first, *_ = parameters.parameters

    @wraps(method)
    def either(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> Any:
        answers: Callable[..., Any] = method
        bound = parameters.bind(*arguments, **options).arguments
        columns = {n: without_tensor(bound[n]) for n in _COLUMNS if bound.get(n) is not None}
        lead = columns.get(first)
        if isinstance(lead, str):
            for name, column in columns.items():
                if not isinstance(column, str):
                    raise ValueError(
                        f"Expected one string of {name}, because {first} is one string. Received: "
                        f"{name} of type {type(column).__name__}."
                    )
                bound[name] = [column]
            bound |= {name: [bound[name]] for name in _LISTS if bound.get(name) is not None}
            (answer,) = answers(**bound)
            return answer
        check_same_index(**{name: bound.get(name) for name in (*_COLUMNS, *_LISTS)})
        pandas = sys.modules.get("pandas")  # whoever has a Series has imported it
        if pandas is None or not isinstance(lead, pandas.Series):
            return answers(**bound)
        return pandas.Series(answers(**bound), index=lead.index)

    return either
