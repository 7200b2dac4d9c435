import numpy as np


def step(board):
    neighbours = sum(
        np.roll(np.roll(board, dy, axis=0), dx, axis=1)
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    )
    return ((neighbours == 3) | ((board == 1) & (neighbours == 2))).astype(int)


board = np.zeros((10, 10), dtype=int)
board[1, 2] = board[2, 3] = board[3, 1] = board[3, 2] = board[3, 3] = 1
for _ in range(12):
    board = step(board)
print("\n".join("".join("#" if cell else "." for cell in row) for row in board))
result = np.argwhere(board).tolist()
