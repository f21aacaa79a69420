#include "engine/ckpt/training.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP, EPOCH, LEARNING_RATE, OPTIMIZER, STRATEGY, PRECISION, ALL };

static const char *const names[] = {"step", "epoch", "learning rate", "optimizer", "strategy", "precision"};

bool shd_ckpt_training(const sherd_ckpt_about *about, sherd_ckpt_about *out)
{
	*out = (sherd_ckpt_about){
		.has_epoch = about->has_epoch,
		.has_step = about->has_step,
		.has_learning_rate = about->has_learning_rate,
		.epoch = about->epoch,
		.step = about->step,
		.learning_rate = about->learning_rate,
		.strategy = about->strategy,
		.precision = about->precision,
		.optimizer_type = about->optimizer_type,
	};
	return out->has_epoch || out->has_step || out->has_learning_rate || out->strategy || out->precision ||
	       out->optimizer_type;
}

void shd_ckpt_training_add(sherd_ckpt_about *said, const sherd_ckpt_about *about)
{
	if (!said->has_epoch)
		said->epoch = about->epoch;
	if (!said->has_step)
		said->step = about->step;
	if (!said->has_learning_rate)
		said->learning_rate = about->learning_rate;
	said->has_epoch |= about->has_epoch;
	said->has_step |= about->has_step;
	said->has_learning_rate |= about->has_learning_rate;
	said->strategy = said->strategy ? said->strategy : about->strategy;
	said->precision = said->precision ? said->precision : about->precision;
	said->optimizer_type = said->optimizer_type ? said->optimizer_type : about->optimizer_type;
}

/* The shortest text that is this very number again. */
static void put_real(double value, char out[64])
{
	for (int digits = 6; digits <= 17; digits++) {
		(void)snprintf(out, 64, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			return;
	}
}

/* "": not said. Another number is another text. */
static void value_of(const sherd_ckpt_about *a, int which, char out[64])
{
	const char *const texts[ALL] = {
		[OPTIMIZER] = a->optimizer_type, [STRATEGY] = a->strategy, [PRECISION] = a->precision};
	out[0] = 0;
	if (which == STEP && a->has_step)
		(void)snprintf(out, 64, "%" PRId64, a->step);
	else if (which == EPOCH && a->has_epoch)
		(void)snprintf(out, 64, "%" PRId64, a->epoch);
	else if (which == LEARNING_RATE && a->has_learning_rate)
		put_real(a->learning_rate, out);
	else if (texts[which])
		(void)snprintf(out, 64, "'%.61s'", texts[which]);
}

static bool same_text(const char *a, const char *b)
{
	return !a || !b ? a == b : strcmp(a, b) == 0;
}

static bool same_whole(const sherd_ckpt_about *a, const sherd_ckpt_about *b, int which)
{
	return which == OPTIMIZER   ? same_text(a->optimizer_type, b->optimizer_type)
	       : which == STRATEGY  ? same_text(a->strategy, b->strategy)
	       : which == PRECISION ? same_text(a->precision, b->precision)
	                            : true;
}

bool shd_ckpt_disagree(const sherd_ckpt_about *first, const sherd_ckpt_about *second, ckpt_must_say who,
                       ckpt_disagreement *out)
{
	for (int which = 0; which < ALL; which++) {
		value_of(first, which, out->first);
		value_of(second, which, out->second);
		bool silent = !out->first[0], other = !out->second[0];
		bool fine = silent && other ? true
		            : silent        ? !(who & CKPT_FIRST)
		            : other         ? who != CKPT_BOTH
		                            : strcmp(out->first, out->second) == 0 && same_whole(first, second, which);
		if (fine)
			continue;
		out->what = names[which];
		if (silent)
			(void)snprintf(out->first, sizeof(out->first), "not said");
		if (other)
			(void)snprintf(out->second, sizeof(out->second), "not said");
		return true;
	}
	return false;
}
