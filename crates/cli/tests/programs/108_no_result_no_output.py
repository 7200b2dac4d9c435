data = [n for n in range(10)]
data.reverse()
total = sum(data)
