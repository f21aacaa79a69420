#include "format/samediff/decoder.h"

#include <string.h>

void *shd_samediff_room(shd_samediff_decoder *d, size_t count, size_t size)
{
	/* One more, so that a list of none has an address too. */
	void *room = d->fb->rc < 0 ? NULL : shd_arena_alloc(d->arena, count + 1, size);
	if (room)
		memset(room, 0, (count + 1) * size);
	else if (d->fb->rc >= 0)
		d->fb->rc = shd_fail_nomem(&d->fb->error);
	return room;
}

sherd_model_texts shd_samediff_texts(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field)
{
	shd_flat_vector v = shd_flat_list(d->fb, t, field, 4);
	const char **at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count; i++)
		at[i] = shd_flat_element_text(d->fb, &v, i, d->arena);
	return (sherd_model_texts){at ? v.count : 0, at};
}

sherd_model_bytes shd_samediff_bytes(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field)
{
	shd_flat_vector v = shd_flat_list(d->fb, t, field, 1);
	uint8_t *at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	if (at)
		(void)shd_flatbuf_copy(d->fb, v.at, at, v.count);
	return (sherd_model_bytes){at ? v.count : 0, at};
}

sherd_model_ints shd_samediff_ints(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field)
{
	shd_flat_vector v = shd_flat_list(d->fb, t, field, 4);
	int32_t *at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count; i++)
		at[i] = shd_flat_element_i32(d->fb, &v, i);
	return (sherd_model_ints){at ? v.count : 0, at};
}

sherd_model_longs shd_samediff_longs(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field)
{
	shd_flat_vector v = shd_flat_list(d->fb, t, field, 8);
	int64_t *at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count; i++)
		at[i] = shd_flat_element_i64(d->fb, &v, i);
	return (sherd_model_longs){at ? v.count : 0, at};
}

sherd_model_reals shd_samediff_reals(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field)
{
	shd_flat_vector v = shd_flat_list(d->fb, t, field, 8);
	double *at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count; i++) {
		int64_t bits = shd_flat_element_i64(d->fb, &v, i);
		memcpy(&at[i], &bits, sizeof(bits));
	}
	return (sherd_model_reals){at ? v.count : 0, at};
}

sherd_model_ids shd_samediff_ids(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field)
{
	shd_flat_vector v = shd_flat_list(d->fb, t, field, 4);
	sherd_model_id *at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		shd_flat_table pair = shd_flat_element(d->fb, &v, i);
		at[i].node = shd_flat_i32(d->fb, &pair, 0, 0);
		at[i].output = shd_flat_i32(d->fb, &pair, 1, 0);
	}
	return (sherd_model_ids){at ? v.count : 0, at};
}
