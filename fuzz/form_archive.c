/* fuzz/form_archive.c - ZIP archives and SDNB files (docs/formats/sdnb.md): entries, arrays behind the graph. */
#include "codec/crc32.h"
#include "codec/deflate.h"
#include "form.h"
#include "format/samediff/sdnb.h"
#include "format/zip.h"

#include <stdlib.h>

enum { ENTRY, NAME, BYTES, GRAPH, BLOBS, PLACE };
enum { ENTRY_BYTES = 16, PLACE_BYTES = 16, MOST_UNPACKED = 1 << 20, MOST_NAME = 700 };

static bool split_entry(const uint8_t *data, const shd_zip_entry *e, form_pieces *out)
{
	uint8_t fixed[ENTRY_BYTES] = {(uint8_t)e->method, (uint8_t)(e->method >> 8)};
	uint64_t begin;
	if (shd_zip_decode_local(data + e->head, e, &begin, NULL) < 0)
		return false;
	shd_put_u32(fixed + 4, e->crc);
	shd_put_u64(fixed + 8, e->size);
	return form_add(out, FORM_FIXED, ENTRY, fixed, sizeof(fixed)) &&
	       form_add(out, FORM_BYTES, NAME, e->name, strlen(e->name)) &&
	       form_add(out, FORM_BYTES, BYTES, data + begin, (size_t)e->stored);
}

static bool split_zip(const uint8_t *data, size_t len, form_pieces *out)
{
	shd_arena arena = {0};
	const shd_zip_limits limits = {0};
	shd_zip_end end;
	shd_zip_entry *entries = NULL;
	size_t count = 0, tail = len < SHD_ZIP_TAIL ? len : SHD_ZIP_TAIL;
	bool done = shd_zip_find_end(data + len - tail, tail, len, &limits, &end, NULL) == SHERD_OK &&
	            shd_zip_decode_directory(data + end.at, &end, &limits, &arena, &entries, &count, NULL) == SHERD_OK;
	for (size_t i = 0; done && i < count; i++)
		done = split_entry(data, &entries[i], out);
	shd_arena_done(&arena);
	return done;
}

/* Size and checksum of what is stored; a damaged stream keeps those that it had. */
static void mend_entry(const form_piece *fixed, const form_piece *bytes, shd_zip_entry *e)
{
	const uint8_t *f = fixed->bytes.data;
	e->method = (uint16_t)(f[0] | f[1] << 8);
	e->crc = shd_get_u32(f + 4);
	e->size = shd_get_u64(f + 8);
	e->stored = bytes->bytes.len;
	if (e->method == SHD_ZIP_STORED) {
		e->size = e->stored;
		e->crc = shd_crc32(0, bytes->bytes.data, bytes->bytes.len);
		return;
	}
	uint8_t *raw = e->size && e->size <= MOST_UNPACKED ? malloc((size_t)e->size) : NULL;
	if (raw && shd_deflate_unpack(bytes->bytes.data, bytes->bytes.len, raw, (size_t)e->size, NULL) == SHERD_OK)
		e->crc = shd_crc32(0, raw, (size_t)e->size);
	free(raw);
}

static void join_zip(const form_pieces *p, shd_buf *out)
{
	static shd_zip_entry made[FORM_MOST_PIECES];
	static char names[FORM_MOST_PIECES][MOST_NAME + 1];
	static const form_piece none;
	size_t count = 0;
	for (size_t i = form_find(p, ENTRY, 0); i < p->count; i = form_find(p, ENTRY, i + 1)) {
		const form_piece *name = i + 1 < p->count && p->list[i + 1].tag == NAME ? &p->list[i + 1] : &none;
		const form_piece *bytes = i + 2 < p->count && p->list[i + 2].tag == BYTES ? &p->list[i + 2] : &none;
		size_t n = name->bytes.len < MOST_NAME ? name->bytes.len : MOST_NAME;
		shd_zip_entry *e = &made[count];
		if (n)
			memcpy(names[count], name->bytes.data, n);
		names[count][n] = 0;
		*e = (shd_zip_entry){.name = names[count++], .head = out->len};
		mend_entry(&p->list[i], bytes, e);
		shd_zip_put_local(out, e, 1);
		shd_buf_append(out, bytes->bytes.data, bytes->bytes.len);
	}
	shd_zip_put_directory(out, made, count, out->len);
}

const fuzz_form form_zip = {split_zip, join_zip};

static bool split_arrays(const shd_java_manifest_entry *entries, size_t count, uint64_t graph_end, form_pieces *out)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t place[PLACE_BYTES];
		shd_put_u64(place, entries[i].offset - graph_end);
		shd_put_u64(place + 8, entries[i].length);
		if (!form_add(out, FORM_FIXED, PLACE, place, sizeof(place)) ||
		    !form_add(out, FORM_BYTES, NAME, entries[i].name, strlen(entries[i].name)))
			return false;
	}
	return true;
}

static bool split_sdnb(const uint8_t *data, size_t len, form_pieces *out)
{
	shd_arena arena = {0};
	shd_sdnb_head head;
	shd_java_manifest_entry *entries;
	size_t count;
	uint64_t graph_end;
	if (len > 4 && memcmp(data, SHD_ZIP_MAGIC, 4) == 0)
		return split_zip(data, len, out);
	if (len < SHD_SDNB_HEAD || shd_sdnb_head_decode(data, SHD_SDNB_HEAD, len, &head, NULL) < 0)
		return false;
	bool done = shd_java_manifest_decode(data + head.manifest, (size_t)head.manifest_bytes, NULL, &arena, &entries,
	                                     &count, NULL) == SHERD_OK &&
	            shd_sdnb_check_places(entries, count, &head, &graph_end, NULL) == SHERD_OK &&
	            form_add(out, FORM_BYTES, GRAPH, data + SHD_SDNB_HEAD, (size_t)graph_end - SHD_SDNB_HEAD) &&
	            form_add(out, FORM_BYTES, BLOBS, data + graph_end, (size_t)(head.manifest - graph_end)) &&
	            split_arrays(entries, count, graph_end, out);
	shd_arena_done(&arena);
	return done;
}

static size_t collect_arrays(const form_pieces *p, uint64_t graph_end, shd_java_manifest_entry *out)
{
	static char names[FORM_MOST_PIECES][MOST_NAME + 1];
	size_t count = 0;
	for (size_t i = form_find(p, PLACE, 0); i < p->count; i = form_find(p, PLACE, i + 1)) {
		const uint8_t *place = p->list[i].bytes.data;
		size_t n = 0;
		if (i + 1 < p->count && p->list[i + 1].tag == NAME) {
			n = p->list[i + 1].bytes.len < MOST_NAME ? p->list[i + 1].bytes.len : MOST_NAME;
			if (n)
				memcpy(names[count], p->list[i + 1].bytes.data, n);
		}
		names[count][n] = 0;
		out[count] =
			(shd_java_manifest_entry){names[count], graph_end + shd_get_u64(place), shd_get_u64(place + 8)};
		count++;
	}
	return count;
}

static void join_sdnb(const form_pieces *p, shd_buf *out)
{
	static shd_java_manifest_entry entries[FORM_MOST_PIECES];
	size_t graph = form_find(p, GRAPH, 0), blobs = form_find(p, BLOBS, 0);
	shd_sdnb_head head;
	if (graph == p->count) {
		join_zip(p, out);
		return;
	}
	shd_buf_zero(out, SHD_SDNB_HEAD);
	shd_buf_append(out, p->list[graph].bytes.data, p->list[graph].bytes.len);
	uint64_t graph_end = out->len;
	if (blobs < p->count)
		shd_buf_append(out, p->list[blobs].bytes.data, p->list[blobs].bytes.len);
	head.manifest = out->len;
	/* A map cannot hold a name twice: such a change is not made. */
	if (shd_java_manifest_encode(out, entries, collect_arrays(p, graph_end, entries), NULL) < 0)
		out->failed = true;
	head.manifest_bytes = out->len - head.manifest;
	if (!out->failed)
		shd_sdnb_head_encode(&head, out->data);
}

const fuzz_form form_sdnb = {split_sdnb, join_sdnb};
