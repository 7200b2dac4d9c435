import statistics as st

latencies = [12, 15, 11, 14, 90, 13, 12, 16, 12, 15, 14, 13]
quartiles = st.quantiles(latencies, n=4)
iqr = quartiles[2] - quartiles[0]
result = {
    "mean": round(st.mean(latencies), 3),
    "median": st.median(latencies),
    "mode": st.mode(latencies),
    "stdev": round(st.stdev(latencies), 3),
    "quartiles": quartiles,
    "outliers": [x for x in latencies if x > quartiles[2] + 1.5 * iqr],
    "harmonic": round(st.harmonic_mean([40, 60]), 3),
    "correlation": round(st.correlation([1, 2, 3, 4], [2, 4, 6, 9]), 4),
}
