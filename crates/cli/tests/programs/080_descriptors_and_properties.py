class Positive:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        return self if instance is None else vars(instance).get(self.name, 0)

    def __set__(self, instance, value):
        if value <= 0:
            raise ValueError(f"{self.name} must be positive")
        vars(instance)[self.name] = value


class Order:
    price = Positive()
    quantity = Positive()

    def __init__(self, price, quantity):
        self.price, self.quantity = price, quantity

    @property
    def total(self):
        return self.price * self.quantity

    @total.setter
    def total(self, value):
        self.price = value / self.quantity

    def __getattr__(self, name):
        return f"<no {name}>"


order = Order(3, 4)
order.total = 20
print(order.price, order.total, order.colour)
for field in ("price", "quantity"):
    try:
        setattr(order, field, -1)
    except ValueError as error:
        print(error)
