import numpy as np
from scipy.integrate import quad, solve_ivp


def predator_prey(t, y):
    rabbits, foxes = y
    return [1.1 * rabbits - 0.4 * rabbits * foxes, 0.1 * rabbits * foxes - 0.4 * foxes]


solution = solve_ivp(predator_prey, (0, 20), (10, 5), t_eval=np.linspace(0, 20, 5), rtol=1e-8)
area, error = quad(lambda x: np.exp(-(x**2)), -np.inf, np.inf)
print(solution.status, round(area, 8))
result = {"rabbits": solution.y[0].round(4), "foxes": solution.y[1].round(4)}
