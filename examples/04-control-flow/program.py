from servers.crm import list_leads
from servers.filesystem import file_info, write_file
from servers.weather import forecast

# A loop: page by page, until there is no next one.
value, page = 0, 1
while page:
    answer = await list_leads(status="qualified", page=page, page_size=50)
    value += sum(lead["value_cents"] for lead in answer["records"])
    page = answer["next_page"]
print(f"{answer['total']} qualified leads are worth {value / 100:,.0f}")


# A condition on an error: another spelling is tried, anything else is passed on.
async def forecast_of(*spellings):
    for spelling in spellings:
        try:
            return await forecast(city=spelling, days=3)
        except ToolError as error:
            if "no city" not in str(error):
                raise
            print(f"{spelling}: {str(error).partition(' there are')[0]}")


# Many at once.
answers = await asyncio.gather(forecast_of("Lisbn", "Lisbon"), forecast_of("Oslo"), forecast_of("Rome"))
for answer in answers:
    wet = [day["date"] for day in answer["days"] if day["precipitation_mm"] > 1]
    print(f"{answer['city']}: " + (f"rain on {', '.join(wet)}" if wet else "dry"))


# Retries: a report that somebody else writes meanwhile, asked for with growing pauses.
missed = asyncio.Event()


async def somebody_else():
    await missed.wait()
    await write_file(path="notes/report.md", text="# Report\n")


async def wait_for_file(path, attempts):
    for attempt in range(1, attempts + 1):
        try:
            return attempt, await file_info(path=path)
        except ToolError:
            if attempt == attempts:
                raise
            if attempt == 3:
                missed.set()
                await writing
            await asyncio.sleep(0.01 * 2**attempt)


writing = asyncio.create_task(somebody_else())
attempt, file = await wait_for_file("notes/report.md", attempts=10)
result = f"{file['path']}: {file['size_bytes']} bytes, there at attempt {attempt}"
