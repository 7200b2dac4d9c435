import pandas as pd

wide = pd.DataFrame({"country": ["NO", "SE"], "2024": [5.4, 10.5], "2025": [5.5, 10.6]})
tidy = wide.melt(id_vars="country", var_name="year", value_name="population")
tags = pd.DataFrame({"country": ["NO", "SE"], "tags": ["fjord,oil", "forest,steel,music"]})
tags = tags.assign(tag=tags["tags"].str.split(",")).explode("tag")[["country", "tag"]]
joined = tidy.merge(tags, on="country")
print(len(joined))
result = joined.sort_values(["country", "year", "tag"]).reset_index(drop=True)
