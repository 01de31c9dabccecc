"""Who will need treatment? A private classifier at the end of a scikit-learn pipeline. The people are invented."""

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import dpfda as dp

rng = np.random.default_rng(0)
ages, doses = rng.uniform(20, 90, 6000), rng.lognormal(0, 0.6, 6000)
people, treated = np.column_stack([ages, doses]), ages / 20 + np.log(doses) + rng.normal(0, 0.5, 6000) > 3
seen, kept, answers, truth = train_test_split(people, treated, random_state=0)

# Steps before the model are fixed by public facts: they learn nothing, so nothing is spent on them.
model = make_pipeline(
    FunctionTransformer(lambda rows: np.column_stack([rows[:, 0], np.log(rows[:, 1])])),
    dp.estimators.PublicScaler(domain=[(20, 90), (-3, 3)]),
    dp.KernelClassifier(epsilon=1, domain=(0, 1), classes=[False, True]),
).fit(seen, answers)
print(model[-1].release_.statement)
print(f"Right for {model.score(kept, truth):.0%} of the people it has not seen (for you, not for publication).")
