"""Label Parquet files with Spark: each task loads the model once and labels its share of the rows.

    python examples/label_with_spark.py MODEL DATA OUT

On a cluster use spark-submit; every machine needs regard and must see the folder MODEL. Needs
pyspark with pandas, and Java.
"""

import sys
from collections.abc import Iterator

import pandas
import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from regard.scale.labelling import Labeller


def main(model: str, data: str, out: str) -> None:
    """Read rows, add a label and its probability to each, write them."""
    spark = SparkSession.builder.appName("regard").getOrCreate()
    rows = spark.read.parquet(data)
    schema = StructType(list(rows.schema.fields))
    names = schema.add("predicted", "string").add("probability", "double").names

    def label(batches: Iterator[pandas.DataFrame]) -> Iterator[pandas.DataFrame]:
        labeller = Labeller(model)  # for explanations: labelling=Labelling(explain=True)
        for batch in batches:
            table = pyarrow.Table.from_pandas(batch, preserve_index=False)
            yield labeller(table).select(names).to_pandas()

    # Rows that Spark hands over at once: enough for batches of similar lengths.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1024)
    rows.mapInPandas(label, schema).write.parquet(out)
    print(f"{spark.read.parquet(out).count():,} rows labelled")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
