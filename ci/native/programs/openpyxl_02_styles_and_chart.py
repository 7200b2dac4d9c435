from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Alignment, Font, PatternFill

workbook = Workbook()
sheet = workbook.active
for row in [("month", "sales"), ("Jan", 30), ("Feb", 45), ("Mar", 25)]:
    sheet.append(row)
for cell in sheet[1]:
    cell.font = Font(bold=True)
    cell.fill = PatternFill("solid", fgColor="DDDDDD")
    cell.alignment = Alignment(horizontal="center")
sheet.column_dimensions["A"].width = 18
chart = BarChart()
chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=4), titles_from_data=True)
sheet.add_chart(chart, "D2")
sheet.freeze_panes = "A2"
workbook.save("sales.xlsx")
again = load_workbook("sales.xlsx").active
result = {"bold": again["A1"].font.bold, "width": again.column_dimensions["A"].width, "frozen": again.freeze_panes, "charts": len(again._charts)}
