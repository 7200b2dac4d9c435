from openpyxl import Workbook, load_workbook

workbook = Workbook()
sheet = workbook.active
sheet.title = "Orders"
sheet.append(["id", "item", "price"])
for row in [(1, "pen", 1.5), (2, "book", 12.0), (3, "lamp", 40.25)]:
    sheet.append(row)
sheet["C5"] = "=SUM(C2:C4)"
workbook.save("orders.xlsx")
loaded = load_workbook("orders.xlsx")
rows = list(loaded["Orders"].iter_rows(min_row=2, max_row=4, values_only=True))
print(loaded.sheetnames, loaded["Orders"]["C5"].value)
result = sum(price for _, _, price in rows)
