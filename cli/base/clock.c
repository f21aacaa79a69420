#include "base/clock.h"

#include "base/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 1 << 20 };

int64_t cli_clock_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int cli_clock_read(cli_clock *clock, sherd_error *err)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	*clock = (cli_clock){0};
	if (!text || !*text) {
		clock->time_ns = cli_clock_now();
		return SHERD_OK;
	}
	char *end;
	errno = 0;
	long long seconds = strtoll(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || seconds > INT64_MAX / 1000000000)
		return cli_usage(err, "SOURCE_DATE_EPOCH must be a number of seconds");
	clock->fixed = true;
	clock->time_ns = (int64_t)seconds * 1000000000;
	return SHERD_OK;
}

/* Two lanes of 64 bits. Not a cryptographic hash: it tells sets apart that differ by accident, not by intent. */
typedef struct mixer {
	uint64_t lanes[2];
} mixer;

static uint64_t stir(uint64_t v)
{
	v ^= v >> 32;
	v *= 0xd6e8feb86659fd93u;
	v ^= v >> 32;
	v *= 0xd6e8feb86659fd93u;
	return v ^ v >> 32;
}

static void clock_mix(mixer *m, uint64_t v)
{
	m->lanes[0] = stir(m->lanes[0] ^ v);
	m->lanes[1] = stir(m->lanes[1] + v + m->lanes[0]);
}

/* The length goes first, so that texts cannot run into each other. */
static void mix_text(mixer *m, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	clock_mix(m, text ? len : UINT64_MAX);
	for (size_t i = 0; i < len; i++)
		clock_mix(m, (uint8_t)text[i]);
}

static void mix_pairs(mixer *m, const sherd_pair *pairs, size_t count)
{
	clock_mix(m, count);
	for (size_t i = 0; i < count; i++) {
		mix_text(m, pairs[i].key);
		mix_text(m, pairs[i].value);
	}
}

static void mix_about(mixer *m, const sherd_ckpt_about *about)
{
	const char *const texts[] = {about->strategy,       about->precision,       about->strategy_info,
	                             about->optimizer_type, about->optimizer_state, about->extra,
	                             about->sharding_extra, about->training_extra};
	uint64_t rate;
	memcpy(&rate, &about->learning_rate, sizeof(rate));
	clock_mix(m, (uint64_t)(about->has_ddp_rank | about->has_epoch << 1 | about->has_step << 2 |
	                        about->has_learning_rate << 3));
	clock_mix(m, (uint64_t)about->ddp_rank);
	clock_mix(m, (uint64_t)about->epoch);
	clock_mix(m, (uint64_t)about->step);
	clock_mix(m, rate);
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		mix_text(m, texts[i]);
	mix_pairs(m, about->fields, about->field_count);
}

/* Values are many, so words are taken in two multiplications instead of four; each step can be undone, so that no two
 * values of one word meet. len is a multiple of 8. */
static void mix_words(mixer *m, const uint8_t *bytes, size_t len)
{
	uint64_t a = m->lanes[0], b = m->lanes[1];
	for (size_t i = 0; i < len; i += 8) {
		uint64_t v;
		memcpy(&v, bytes + i, sizeof(v));
		a = (a ^ v) * 0xd6e8feb86659fd93u;
		a ^= a >> 32;
		b = (b << 29 | b >> 35) + (v ^ a) * 0x9e3779b97f4a7c15u;
	}
	*m = (mixer){{a, b}};
}

static int mix_values(mixer *m, const sherd_bundle *bundle, size_t tensor, uint8_t *buf, sherd_error *err)
{
	uint64_t bytes = sherd_bundle_tensor(bundle, tensor)->bytes;
	clock_mix(m, bytes);
	for (uint64_t at = 0; at < bytes; at += CHUNK) {
		size_t n = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
		TRY(cli_watch_check(err));
		memset(buf + n / 8 * 8, 0, 8);
		TRY(sherd_bundle_read(bundle, tensor, at, buf, n, err));
		mix_words(m, buf, (n + 7) / 8 * 8);
	}
	return SHERD_OK;
}

static int mix_bundle(mixer *m, const sherd_bundle *bundle, uint8_t *buf, sherd_error *err)
{
	const sherd_pair *pairs;
	size_t count = sherd_bundle_pairs(bundle, &pairs);
	mix_pairs(m, pairs, count);
	clock_mix(m, sherd_bundle_count(bundle));
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(bundle, i);
		mix_text(m, t->name);
		clock_mix(m, (uint64_t)t->dtype);
		clock_mix(m, t->ndim);
		for (uint32_t d = 0; d < t->ndim; d++)
			clock_mix(m, t->shape[d]);
		TRY(mix_values(m, bundle, i, buf, err));
	}
	return SHERD_OK;
}

static bool is_committed(const cli_place *place, const sherd_set_id *id)
{
	sherd_ckpt *ckpt;
	if (sherd_ckpt_open(&ckpt, place->store, place->key, NULL, NULL) < 0)
		return false;
	const sherd_ckpt_info *info = sherd_ckpt_describe(ckpt);
	bool same = info->has_set_id && memcmp(&info->set_id, id, sizeof(*id)) == 0;
	sherd_ckpt_close(ckpt);
	return same;
}

static void clock_take_id(const mixer *m, sherd_set_id *out)
{
	for (size_t i = 0; i < sizeof(out->bytes); i++)
		out->bytes[i] = (uint8_t)(m->lanes[i / 8] >> (8 * (i % 8)));
}

int cli_clock_set_id(const cli_clock *clock, cli_state *cli, const cli_place *place, const sherd_bundle *bundle,
                     bool cut, const sherd_ckpt_save_options *options, sherd_set_id *out, sherd_error *err)
{
	mixer m = {{0x7368657264736574u, 0x736f757263656964u}};
	sherd_bundle_options reading = {.pool = cli->pool, .progress = &cli->progress};
	const sherd_ckpt_about *about = options->about ? options->about : sherd_bundle_about(bundle);
	if (!clock->fixed)
		return sherd_set_id_random(out, err);
	TRY(sherd_bundle_prepare(bundle, NULL, 0, &reading, err));
	clock_mix(&m, (uint64_t)clock->time_ns);
	mix_text(&m, place->key);
	clock_mix(&m, options->world);
	clock_mix(&m, (uint64_t)options->layout << 1 | cut);
	if (about)
		mix_about(&m, about);
	uint8_t *buf = malloc(CHUNK + 8);
	int rc = buf ? mix_bundle(&m, bundle, buf, err) : cli_no_memory(err);
	free(buf);
	TRY(rc);
	clock_mix(&m, 0);
	clock_take_id(&m, out);
	if (is_committed(place, out)) {
		clock_mix(&m, 1);
		clock_take_id(&m, out);
	}
	return SHERD_OK;
}
