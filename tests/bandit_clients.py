"""Four clients on one experiment, in a process that is to be killed: every acknowledged answer is told to the parent.

python bandit_clients.py FILE ROUND DURABLE        # lines on stdout: d ID ARM or r ID REWARD, each after its answer
"""

import os
import sys
import threading

from evenodds.bandits.experiment import Experiment

CLIENTS = 4


def client(experiment, k, turn, out=1):
    """Decide and reward for ever; some rewards come late, some twice, some never."""
    late = []
    for i in range(1_000_000):
        name = f"{turn}-{k}-{i}"
        decision = experiment.decide(name)
        os.write(out, f"d {name} {decision.arm}\n".encode())
        late.append(name)
        if i % 3:
            who = late.pop(0)
            reward = len(who) % 2
            for _ in range(1 + i % 2):
                experiment.reward(who, reward)
            os.write(out, f"r {who} {reward}\n".encode())


def work(path, turn, durable, out=1):
    """Open the experiment and let the clients loose; it does not end."""
    opened = Experiment(path, durable=durable)
    for number in range(CLIENTS):
        threading.Thread(target=client, args=(opened, number, turn, out)).start()


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2], sys.argv[3] == "1")
