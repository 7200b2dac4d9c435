from skills.pressing_tickets import pressing_tickets

for number, day, subject in await pressing_tickets(limit=3):
    print(number, day, subject)
