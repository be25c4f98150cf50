"""Four clients on one experiment, in a process that is to be killed: every acknowledged answer is told to the parent.

python bandit_clients.py FILE ROUND DURABLE        # lines on stdout: d ID ARM or r ID REWARD, each after its answer
"""

import os
import sys
import threading

from evenodds.bandits.experiment import Experiment

CLIENTS = 4


def client(experiment, k, turn):
    """Decide and reward for ever; some rewards come late, some twice, some never."""
    late = []
    for i in range(1_000_000):
        name = f"{turn}-{k}-{i}"
        decision = experiment.decide(name)
        os.write(1, f"d {name} {decision.arm}\n".encode())
        late.append(name)
        if i % 3:
            who = late.pop(0)
            reward = len(who) % 2
            for _ in range(1 + i % 2):
                experiment.reward(who, reward)
            os.write(1, f"r {who} {reward}\n".encode())


if __name__ == "__main__":
    opened = Experiment(sys.argv[1], durable=sys.argv[3] == "1")
    for number in range(CLIENTS):
        threading.Thread(target=client, args=(opened, number, sys.argv[2])).start()
