"""Tables, arrays, figures and images: as results, and as arguments of tools.

A table becomes a list of rows, an array a list, a figure or an image a PNG that goes along with the result. A result
that is a long table goes along as Parquet, with its columns and first rows. What a value is, its own library says, if the program has loaded it; whatever fails is left to the guest, which shows a repr.
"""

import gc
import io
import math
import sys

from gristmill_guest import encoding, result

# Stands for "this is none of ours".
NOT_OURS = object()

# A result with more rows than this is written as Parquet, if the environment can do that, and shown by its first ones.
ROWS_MAX = 1000
ROWS_SHOWN = 5

# Seeds of numpy that chance gave have 128 bits.
SEED_MAX = 1 << 64

_by_chance = []

_plain_before = encoding._plain
_other_before = result._Writer._other


def install():
    """Done once, before children are forked."""
    result._Writer._other = _write_other
    encoding._plain = _plain


def remember_generators():
    """Which of numpy's generators draw what chance gave them, before children are forked: all would draw the same."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kind = numpy.random.BitGenerator
        _by_chance[:] = [one for one in gc.get_objects() if issubclass(type(one), kind) and _is_by_chance(one)]


def _is_by_chance(generator):
    """One that somebody seeded draws what it always does: nobody writes numbers as long as those of chance."""
    seeds = getattr(generator, "seed_seq", None)
    entropy = getattr(seeds, "entropy", None)
    return type(entropy) is int and entropy > SEED_MAX


def reseed():
    """numpy draws its seed when it is imported, which was before the fork."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
    for generator in _by_chance:
        generator.state = type(generator)().state


def _write_other(writer, value, kind, depth):
    try:
        plain = _long_table(writer, value, kind) if depth == 1 else NOT_OURS
        if plain is NOT_OURS:
            plain = simplified(value, kind)
    except Exception:
        plain = NOT_OURS
    if plain is NOT_OURS:
        _other_before(writer, value, kind, depth)
    else:
        writer.write(plain, depth)


def _plain(value, path, depth):
    kind = type(value)
    if kind not in (str, int, float, bool, dict, list, tuple, type(None)):
        try:
            plain = simplified(value, kind)
        except Exception:
            plain = NOT_OURS
        if plain is not NOT_OURS and type(plain) is not bytes:
            value = plain
    return _plain_before(value, path, depth)


def simplified(value, kind):
    """The value as plain data, or NOT_OURS."""
    for library, simplify in _LIBRARIES.items():
        # Only a value's own library knows it, and it is loaded, or there would be no value.
        if any(base.__module__.partition(".")[0] == library for base in kind.__mro__):
            module = sys.modules.get(library)
            if module is not None:
                plain = simplify(module, value)
                if plain is not NOT_OURS:
                    return plain
    return NOT_OURS


def _long_table(writer, value, kind):
    """A table as its columns, its first rows and its Parquet; NOT_OURS for a short one, or where that can't be had."""
    library = kind.__module__.partition(".")[0]
    module = sys.modules.get(library) if library in _TABLES else None
    if module is None or not isinstance(value, module.DataFrame) or len(value) <= ROWS_MAX:
        return NOT_OURS
    try:
        table, first, parquet = _TABLES[library](module, value)
    except ImportError:
        return _as_rows(writer, value, "as the environment has no pyarrow")
    except Exception as error:
        return _as_rows(writer, value, f"as Parquet can't hold it ({type(error).__name__})")
    # It is carried as base64, and has to fit where a result fits that is not a large one.
    if len(parquet) * 4 // 3 > writer._bytes_max - writer._bytes_extra - ROOM_BYTES:
        return _as_rows(writer, value, f"as its Parquet has {len(parquet):,} bytes")
    columns = {str(name): str(kind) for name, kind in zip(table.columns, table.dtypes)}
    return {"rows": len(value), "columns": columns, "first_rows": first, "table": parquet}


# Beside the Parquet.
ROOM_BYTES = 256 << 10


def _as_rows(writer, value, why):
    writer._note(f"the {len(value):,} rows of the table are JSON and not Parquet, {why}")
    return NOT_OURS


def _parquet_of_pandas(pandas, value):
    import pyarrow.parquet

    table = value if _is_counted(pandas, value.index) else value.reset_index()
    table = table.set_axis(_names(table.columns), axis=1)
    written = io.BytesIO()
    rows = pyarrow.Table.from_pandas(table, preserve_index=False, nthreads=1)
    pyarrow.parquet.write_table(rows, written)
    return table, _rows(pandas, table.head(ROWS_SHOWN)), written.getvalue()


def _parquet_of_polars(polars, value):
    written = io.BytesIO()
    value.write_parquet(written, compression="snappy")
    return value, value.head(ROWS_SHOWN).to_dicts(), written.getvalue()


_TABLES = {"pandas": _parquet_of_pandas, "polars": _parquet_of_polars}


def _of_numpy(numpy, value):
    if isinstance(value, numpy.ndarray):
        if value.dtype.kind in "mM":
            return [_moment(item) for item in value.ravel()] if value.ndim == 1 else value.astype(str).tolist()
        return _without_nan(value.tolist()) if value.dtype.kind in "fcO" else value.tolist()
    if isinstance(value, (numpy.datetime64, numpy.timedelta64)):
        return _moment(value)
    if isinstance(value, numpy.generic):
        return value.item()
    return NOT_OURS


def _of_pandas(pandas, value):
    if value is pandas.NA or value is pandas.NaT:
        return None
    if isinstance(value, pandas.DataFrame):
        return _rows(pandas, value)
    if isinstance(value, pandas.Series):
        if _is_counted(pandas, value.index):
            return _column(pandas, value)
        if value.index.nlevels == 1 and value.index.is_unique:
            names = [name if type(name) is str else str(name) for name in value.index]
            return dict(zip(names, _column(pandas, value)))
        return _rows(pandas, value.to_frame(value.name if value.name is not None else "value"))
    if isinstance(value, pandas.MultiIndex):
        return [list(names) for names in value]
    if isinstance(value, pandas.Index) or isinstance(value, pandas.api.extensions.ExtensionArray):
        return _column(pandas, pandas.Series(value))
    if isinstance(value, (pandas.Period, pandas.Interval)):
        return str(value)
    return NOT_OURS


def _rows(pandas, table):
    if not _is_counted(pandas, table.index):
        table = table.reset_index()
    names = _names(table.columns)
    columns = [_column(pandas, table.iloc[:, at]) for at in range(len(names))]
    return [dict(zip(names, row)) for row in zip(*columns)]


def _names(columns):
    return [" ".join(map(str, name)) if type(name) is tuple else str(name) for name in columns]


def _is_counted(pandas, index):
    """Whether rows are only numbered: then their numbers are no column."""
    return isinstance(index, pandas.RangeIndex) and index.name is None and index.start == 0 and index.step == 1


def _column(pandas, column):
    values = column.astype(object).where(column.notna(), None).tolist()
    return [_number(value) if type(value) is float else value for value in values]


def _number(value):
    return None if type(value) is float and math.isnan(value) else value


def _without_nan(values):
    if type(values) is list:
        return [_without_nan(value) for value in values]
    return _number(values)


def _moment(value):
    text = str(value)
    return None if text == "NaT" else text


def _of_matplotlib(matplotlib, value):
    figure = value if hasattr(value, "savefig") else getattr(value, "figure", None)
    if figure is None or not hasattr(figure, "savefig"):
        return NOT_OURS
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()


def _of_pillow(pillow, value):
    if not hasattr(value, "save") or not hasattr(value, "getbands"):
        return NOT_OURS
    picture = io.BytesIO()
    value.save(picture, format="PNG")
    return picture.getvalue()


def _of_polars(polars, value):
    if isinstance(value, polars.DataFrame):
        return value.to_dicts()
    return value.to_list() if isinstance(value, polars.Series) else NOT_OURS


def _of_pyarrow(pyarrow, value):
    return value.to_pylist() if hasattr(value, "to_pylist") else NOT_OURS


_LIBRARIES = {
    "numpy": _of_numpy,
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_pyarrow,
    "matplotlib": _of_matplotlib,
    "PIL": _of_pillow,
}
