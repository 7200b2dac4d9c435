from servers.calculator import evaluate
result = await evaluate(expression="2348.60 * 1.175")
