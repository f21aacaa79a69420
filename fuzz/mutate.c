/* fuzz/mutate.c - libFuzzer's mutations, applied to the pieces of an input (form.h). */
#include "form.h"

#include <stdlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t most, unsigned seed);

enum { RAW_IN = 8, MOST_CHANGES = 3, MOST_GROWTH = 256 };

const fuzz_form form_plain = {NULL, NULL};

uint32_t form_roll(form_dice *dice, uint32_t below)
{
	uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return below ? (uint32_t)((z ^ z >> 31) % below) : 0;
}

bool form_add(form_pieces *p, form_kind kind, uint32_t tag, const void *data, size_t len)
{
	if (p->count == FORM_MOST_PIECES)
		return false;
	form_piece *piece = &p->list[p->count];
	*piece = (form_piece){.kind = kind, .tag = tag};
	shd_buf_append(&piece->bytes, data, len);
	p->count += !piece->bytes.failed;
	return !piece->bytes.failed;
}

void form_clear(form_pieces *p)
{
	for (size_t i = 0; i < p->count; i++)
		shd_buf_done(&p->list[i].bytes);
	p->count = 0;
}

size_t form_find(const form_pieces *p, uint32_t tag, size_t from)
{
	while (from < p->count && p->list[from].tag != tag)
		from++;
	return from;
}

static void change_bytes(shd_buf *b, size_t most)
{
	if (shd_buf_reserve(b, most - b->len) && most)
		b->len = LLVMFuzzerMutate(b->data, b->len, most);
}

static void change_fixed(shd_buf *b)
{
	SHD_AUTO_BUF copy = {0};
	shd_buf_append(&copy, b->data, b->len);
	if (copy.failed || !copy.len)
		return;
	size_t len = LLVMFuzzerMutate(copy.data, copy.len, copy.len);
	memcpy(b->data, copy.data, len);
}

/* Falls back to bytes when the object has lost its form. */
static void change_object(form_piece *piece, form_dice *dice, size_t most)
{
	form_pieces *inner = calloc(1, sizeof(*inner));
	SHD_AUTO_BUF out = {0};
	bool split = inner && piece->inner && piece->inner->split(piece->bytes.data, piece->bytes.len, inner);
	if (split) {
		form_change(inner, dice, most);
		piece->inner->join(inner, &out);
	}
	if (inner)
		form_clear(inner);
	free(inner);
	if (split && !out.failed) {
		shd_buf kept = piece->bytes;
		piece->bytes = out;
		out = kept;
	} else {
		change_bytes(&piece->bytes, most);
	}
}

static void change_piece(form_piece *piece, form_dice *dice, size_t most)
{
	size_t longest = piece->bytes.len + MOST_GROWTH;
	switch (piece->kind) {
	case FORM_BYTES: change_bytes(&piece->bytes, longest < most ? longest : most); break;
	case FORM_FIXED: change_fixed(&piece->bytes); break;
	case FORM_JSON: form_change_json(&piece->bytes, dice); break;
	case FORM_OBJECT: change_object(piece, dice, longest < most ? longest : most); break;
	}
}

static void swap_pieces(form_pieces *p, size_t a, size_t b)
{
	form_piece kept = p->list[a];
	p->list[a] = p->list[b];
	p->list[b] = kept;
}

static void drop_piece(form_pieces *p, size_t at)
{
	shd_buf_done(&p->list[at].bytes);
	p->count--;
	memmove(&p->list[at], &p->list[at + 1], (p->count - at) * sizeof(p->list[0]));
}

/* A copy of a run of pieces lies right behind it: of what is described by several, all may come twice. */
static void double_pieces(form_pieces *p, size_t at, size_t run)
{
	if (run > p->count - at)
		run = p->count - at;
	for (size_t i = 0; i < run; i++) {
		const form_piece *from = &p->list[at + i];
		const fuzz_form *inner = from->inner;
		if (!form_add(p, from->kind, from->tag, from->bytes.data, from->bytes.len))
			return;
		form_piece last = p->list[p->count - 1];
		last.inner = inner;
		size_t to = at + run + i;
		memmove(&p->list[to + 1], &p->list[to], (p->count - 1 - to) * sizeof(p->list[0]));
		p->list[to] = last;
	}
}

/* Takes the bytes of another piece of the same tag. */
static void copy_piece(form_pieces *p, size_t to, form_dice *dice)
{
	size_t from = form_find(p, p->list[to].tag, form_roll(dice, (uint32_t)p->count));
	if (from == p->count || from == to)
		return;
	shd_buf_done(&p->list[to].bytes);
	shd_buf_append(&p->list[to].bytes, p->list[from].bytes.data, p->list[from].bytes.len);
}

void form_change(form_pieces *p, form_dice *dice, size_t most)
{
	for (uint32_t left = 1 + form_roll(dice, MOST_CHANGES); left && p->count; left--) {
		size_t at = form_roll(dice, (uint32_t)p->count);
		switch (form_roll(dice, 12)) {
		case 0: drop_piece(p, at); break;
		case 1: double_pieces(p, at, 1 + form_roll(dice, 3)); break;
		case 2: swap_pieces(p, at, form_roll(dice, (uint32_t)p->count)); break;
		case 3: copy_piece(p, at, dice); break;
		default: change_piece(&p->list[at], dice, most);
		}
	}
}

/* The input changed and mended; false when it has not the form, or the result no room. */
static bool mutate_form(uint8_t *data, size_t *len, size_t most, form_dice *dice)
{
	static form_pieces pieces;
	SHD_AUTO_BUF out = {0};
	bool split = fuzz_target_form->split(data, *len, &pieces);
	if (split) {
		form_change(&pieces, dice, most);
		fuzz_target_form->join(&pieces, &out);
	}
	form_clear(&pieces);
	if (!split || out.failed || !out.len || out.len > most)
		return false;
	memcpy(data, out.data, out.len);
	*len = out.len;
	return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t most, unsigned seed)
{
	form_dice dice = {seed};
	if (fuzz_target_form->split && form_roll(&dice, RAW_IN) && mutate_form(data, &len, most, &dice))
		return len;
	return LLVMFuzzerMutate(data, len, most);
}
