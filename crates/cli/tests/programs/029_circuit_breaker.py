class CircuitOpen(Exception):
    pass


class Breaker:
    def __init__(self, threshold):
        self.threshold = threshold
        self.failures = 0

    async def call(self, tool, **arguments):
        if self.failures >= self.threshold:
            raise CircuitOpen(tool)
        try:
            answer = await callMCPTool(tool, arguments)
        except ToolError:
            self.failures += 1
            raise
        self.failures = 0
        return answer


breaker = Breaker(threshold=2)
history = []
for i in range(5):
    try:
        if i == 0:
            await breaker.call("echo", value="fine")
            history.append("ok")
        else:
            await breaker.call("fail", message="upstream down")
    except CircuitOpen:
        history.append("open")
    except ToolError as e:
        history.append(str(e))
history
