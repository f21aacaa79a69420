#include "format/pickle/write.h"

void shd_pickle_writer_init(shd_pickle_writer *w, shd_buf *out, uint8_t protocol)
{
	*w = (shd_pickle_writer){.out = out};
	shd_buf_u8(out, 0x80);
	shd_buf_u8(out, protocol);
}

void shd_pickle_writer_done(shd_pickle_writer *w)
{
	shd_map_done(&w->memo);
	shd_arena_done(&w->arena);
}

int shd_pickle_writer_end(shd_pickle_writer *w, sherd_error *err)
{
	shd_buf_u8(w->out, '.');
	return w->failed ? shd_fail_nomem(err) : shd_buf_check(w->out, err);
}

void shd_pickle_put_op(shd_pickle_writer *w, uint8_t op)
{
	shd_buf_u8(w->out, op);
}

/* Is there a value of this name already? Then it is recalled. */
static bool pickle_recall(shd_pickle_writer *w, shd_str name)
{
	size_t at = shd_map_find(&w->memo, name);
	if (at == SHD_MAP_NONE)
		return false;
	shd_buf_u8(w->out, at < 256 ? 'h' : 'j');
	if (at < 256)
		shd_buf_u8(w->out, (uint8_t)at);
	else
		shd_buf_u32(w->out, (uint32_t)at);
	return true;
}

/* Remembers what was just put. */
static void pickle_remember(shd_pickle_writer *w, shd_str name)
{
	bool ok = true;
	char *kept = shd_arena_str(&w->arena, name);
	if (kept)
		(void)shd_map_add(&w->memo, shd_str_of(kept), w->count, &ok);
	w->failed |= !kept || !ok;
	shd_buf_u8(w->out, w->count < 256 ? 'q' : 'r');
	if (w->count < 256)
		shd_buf_u8(w->out, (uint8_t)w->count);
	else
		shd_buf_u32(w->out, w->count);
	w->count++;
}

/* The line of instruction and text is the name in the memo: no text of a pickle is like it. */
void shd_pickle_put_global(shd_pickle_writer *w, const char *module, const char *name)
{
	SHD_AUTO_BUF line = {0};
	shd_buf_printf(&line, "c%s\n%s\n", module, name);
	if (line.failed) {
		w->failed = true;
		return;
	}
	shd_str text = {(const char *)line.data, line.len};
	if (pickle_recall(w, text))
		return;
	shd_buf_append(w->out, text.ptr, text.len);
	pickle_remember(w, text);
}

void shd_pickle_put_text(shd_pickle_writer *w, const char *text)
{
	size_t len = strlen(text);
	shd_buf_u8(w->out, 'X');
	shd_buf_u32(w->out, (uint32_t)len);
	shd_buf_append(w->out, text, len);
}

void shd_pickle_put_often(shd_pickle_writer *w, const char *text)
{
	if (pickle_recall(w, shd_str_of(text)))
		return;
	shd_pickle_put_text(w, text);
	pickle_remember(w, shd_str_of(text));
}

void shd_pickle_put_int(shd_pickle_writer *w, uint64_t v)
{
	if (v < 256) {
		shd_buf_u8(w->out, 'K');
		shd_buf_u8(w->out, (uint8_t)v);
	} else if (v < 65536) {
		shd_buf_u8(w->out, 'M');
		shd_buf_u16(w->out, (uint16_t)v);
	} else if (v <= INT32_MAX) {
		shd_buf_u8(w->out, 'J');
		shd_buf_u32(w->out, (uint32_t)v);
	} else {
		shd_buf_append(w->out, (const uint8_t[]){0x8a, 9}, 2);
		shd_buf_u64(w->out, v);
		shd_buf_u8(w->out, 0);
	}
}

void shd_pickle_put_bool(shd_pickle_writer *w, bool v)
{
	shd_buf_u8(w->out, v ? 0x88 : 0x89);
}

void shd_pickle_put_numbers(shd_pickle_writer *w, const uint64_t *numbers, size_t count)
{
	if (!count || count > 3)
		shd_buf_u8(w->out, count ? '(' : ')');
	for (size_t i = 0; i < count; i++)
		shd_pickle_put_int(w, numbers[i]);
	if (count)
		shd_buf_u8(w->out, count > 3 ? 't' : (uint8_t)(0x84 + count));
}
