"""
What can anybody learn about me from a release?
===============================================

Somebody who knows all records but yours holds a belief about it, such as "ill, with a chance of one in ten". A release
can change that belief, but its odds by no more than a factor of exp(epsilon).
"""

import matplotlib.pyplot as plt
import numpy as np

before = np.linspace(0.001, 0.999, 500)
odds = before / (1 - before)
colours = {2: "#d6e4ee", 1: "#9cc3de", 0.5: "#4d86ad", 0.1: "#1b4b72"}

fig, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
for epsilon, colour in colours.items():
    least, most = odds * np.exp(-epsilon), odds * np.exp(epsilon)
    ends = least / (1 + least), most / (1 + most)
    ax.fill_between(before, *ends, color=colour, label=f"epsilon {epsilon}")
ax.plot(before, before, color="white", linewidth=1)
words = "one in ten becomes at most\none in four at epsilon 1"
ax.annotate(words, (0.1, 0.23), (0.02, 0.9), arrowprops={"arrowstyle": "-"}, fontsize=9)
ax.set(xlabel="belief before the release", ylabel="belief after it", aspect="equal")
ax.set(xlim=(0, 1), ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))
plt.show()

# %%
# What to change
# --------------
# Put in the beliefs and the epsilon that your review board asks about. Two releases about the same people add their
# epsilons up, so draw the total of the study. What a release shows about everybody, it may show about you as well.
