"""Records from anywhere: arrays, tables, streams and files, as blocks of rows."""

from dpfda.reading.columns import FileColumns, columns_of
from dpfda.reading.curves import Curves
from dpfda.reading.functional import Irregular
from dpfda.reading.items import Batches
from dpfda.reading.layouts import Lists, Long

__all__ = ["Batches", "Curves", "FileColumns", "Irregular", "Lists", "Long", "columns_of"]
