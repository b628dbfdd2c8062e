"""How far one table of logits is from another: divergence, first choices, likelihoods."""

import numpy


def log_softmax(row):
    wide = row.astype(numpy.float64)
    wide -= wide.max()
    return wide - numpy.log(numpy.exp(wide).sum())


def distance(wanted, found):
    """Mean KL(wanted || found) in nats, share of equal first choices, top-logit difference."""
    divergence, equal, top_difference = [], 0, []
    for want, have in zip(wanted, found):
        log_p, log_q = log_softmax(want), log_softmax(have)
        divergence.append(float((numpy.exp(log_p) * (log_p - log_q)).sum()))
        best = int(want.argmax())
        equal += best == int(have.argmax())
        top_difference.append(float(have[best]) - float(want[best]))
    top_difference = numpy.array(top_difference)
    return {"mean_kl": float(numpy.mean(divergence)), "max_kl": max(divergence),
            "top1_equal": equal, "positions": len(divergence),
            "top_logit_rms": float(numpy.sqrt((top_difference**2).mean())),
            "top_logit_max": float(numpy.abs(top_difference).max())}


def nll_of(logits, ids):
    """-ln p of ids[1:] in nats; row i of the logits [n, n_vocab] follows ids[i]."""
    return [-float(log_softmax(row)[token]) for row, token in zip(logits, ids[1:])]
