#include "codec/cast.h"

#include "base/error.h"
#include "codec/blocks.h"
#include "codec/floats.h"

static bool is_plain_float(sherd_dtype dtype)
{
	return dtype == SHERD_F16 || dtype == SHERD_BF16 || dtype == SHERD_F32 || dtype == SHERD_F64;
}

bool shd_cast_known(sherd_dtype from)
{
	switch (from) {
	case SHERD_F8_E4M3:
	case SHERD_F8_E5M2:
	case SHERD_F8_E8M0:
	case SHERD_F8_E4M3FNUZ:
	case SHERD_F8_E5M2FNUZ:
	case SHERD_F4:
	case SHERD_F6_E2M3:
	case SHERD_F6_E3M2: return true;
	default: return is_plain_float(from) || shd_blocks_known(from);
	}
}

bool shd_cast_target(sherd_dtype to)
{
	return to == SHERD_F16 || to == SHERD_BF16 || to == SHERD_F32;
}

void shd_cast_init(shd_cast *c, sherd_dtype from, sherd_dtype to)
{
	const sherd_dtype_info *info = sherd_dtype_describe(from);
	c->from = from;
	c->to = to;
	c->in_bytes = info->block_bytes;
	c->elements = info->block_elements;
	c->out_bytes = sherd_dtype_element_bytes(to);
	c->overflows = from == SHERD_F64 || (to != SHERD_F32 && from != SHERD_F16);
	if (!is_plain_float(from))
		shd_numbers_init(&c->numbers, from);
}

/* Those that are infinite now and were not before. */
static size_t count_overflowed(sherd_dtype from, const void *in, sherd_dtype to, const void *out, size_t count)
{
	size_t now = shd_floats_infinite(to, out, count);
	return now ? now - shd_floats_infinite(from, in, count) : 0;
}

/* Some at a time by way of floats. */
static size_t cast_by_floats(const shd_cast *c, const uint8_t *in, uint8_t *out, size_t blocks)
{
	float some[1024];
	size_t room = COUNT_OF(some) / c->elements, overflowed = 0;
	for (size_t done = 0; done < blocks; done += room) {
		size_t now = blocks - done < room ? blocks - done : room, count = now * c->elements;
		uint8_t *to = out + done * c->elements * c->out_bytes;
		shd_numbers_f32(&c->numbers, in + done * c->in_bytes, some, now);
		shd_floats_convert(SHERD_F32, some, c->to, to, count);
		if (c->overflows)
			overflowed += count_overflowed(SHERD_F32, some, c->to, to, count);
	}
	return overflowed;
}

size_t shd_cast_blocks(const shd_cast *c, const void *in, void *out, size_t blocks)
{
	if (!is_plain_float(c->from)) {
		if (c->to != SHERD_F32)
			return cast_by_floats(c, in, out, blocks);
		shd_numbers_f32(&c->numbers, in, out, blocks);
		return 0;
	}
	shd_floats_convert(c->from, in, c->to, out, blocks);
	return c->overflows ? count_overflowed(c->from, in, c->to, out, blocks) : 0;
}
