/* engine/tensors/sift.c - the tensors of a bundle whose bytes are as they were written. */
#include "engine/tensors/bundle.h"

#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

typedef struct sifting {
	const sherd_bundle *from;
	sherd_error **damage; /* by tensor; NULL: none was found */
	bool *whole;          /* by tensor */
	shd_meter meter;
} sifting;

static int sift_check_one(void *arg, size_t index, sherd_error *err)
{
	sifting *g = arg;
	sherd_error damage = {0};
	TRY(g->from->ops->check(g->from, index, &g->meter, &g->whole[index], &damage, err));
	if (!damage.code)
		return SHERD_OK;
	g->damage[index] = malloc(sizeof(damage));
	if (!g->damage[index])
		return shd_fail_nomem(err);
	*g->damage[index] = damage;
	return SHERD_OK;
}

/* Damage of a file that no tensor is blamed for is told once. */
static void sift_tell(const sifting *g, const sherd_bundle_options *options)
{
	const sherd_error *last = NULL;
	for (size_t i = 0; i < g->from->count; i++) {
		const sherd_error *d = g->damage[i];
		if (d && !(last && strcmp(d->object, last->object) == 0 && strcmp(d->message, last->message) == 0))
			options->lost(options->lost_arg, d);
		last = d ? d : last;
	}
	for (size_t i = 0; i < g->from->count; i++) {
		sherd_error e = {0};
		if (g->whole[i])
			continue;
		(void)shd_fail(&e, SHERD_ECORRUPT, "missing-piece", "tensor '%.128s' is lost",
		               g->from->tensors[i].name);
		options->lost(options->lost_arg, &e);
	}
}

static int take_whole(const sifting *g, const char **names, sherd_bundle **out, sherd_error *err)
{
	sherd_bundle_select_options want = {.names = names};
	for (size_t i = 0; i < g->from->count; i++)
		if (g->whole[i])
			names[want.name_count++] = g->from->tensors[i].name;
	return sherd_bundle_select(out, g->from, &want, err);
}

static int tensors_sift(sifting *g, const char **names, sherd_bundle **out, sherd_pool *pool, sherd_error *err)
{
	if (!g->damage || !g->whole || !names)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < g->from->count; i++) {
		g->whole[i] = true;
		g->meter.total += g->from->tensors[i].bytes;
	}
	if (g->from->ops->check)
		TRY(shd_pool_run(pool, g->from->count, sift_check_one, g, err));
	return take_whole(g, names, out, err);
}

int sherd_bundle_sift(sherd_bundle **out, const sherd_bundle *from, const sherd_bundle_options *options,
                      sherd_error *err)
{
	size_t count = from->count;
	sifting g = {.from = from};
	g.damage = calloc(count + 1, sizeof(*g.damage));
	g.whole = calloc(count + 1, sizeof(*g.whole));
	const char **names = calloc(count + 1, sizeof(*names));
	shd_meter_init(&g.meter, options ? options->progress : NULL, 0);
	int rc = tensors_sift(&g, names, out, options ? options->pool : NULL, err);
	shd_meter_done(&g.meter);
	if (rc == SHERD_OK && options && options->lost)
		sift_tell(&g, options);
	for (size_t i = 0; g.damage && i < count; i++)
		free(g.damage[i]);
	free(g.damage);
	free(g.whole);
	free(names);
	return rc;
}
