from openpyxl import Workbook, load_workbook

book = Workbook(write_only=True)
sheet = book.create_sheet("numbers")
for n in range(2000):
    sheet.append([n, n % 7, f"row {n}"])
book.save("numbers.xlsx")
reader = load_workbook("numbers.xlsx", read_only=True)
counts = {}
for _, remainder, _ in reader["numbers"].iter_rows(values_only=True):
    counts[remainder] = counts.get(remainder, 0) + 1
reader.close()
result = counts
