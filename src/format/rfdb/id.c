#include "format/rfdb/id.h"

#include "codec/blake3.h"

bool sherd_rfdb_id_parse(sherd_str digits, sherd_u128 *out)
{
	sherd_u128 v = 0;
	if (!digits.len)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		char c = digits.ptr[i];
		if (c < '0' || c > '9' || __builtin_mul_overflow(v, (sherd_u128)10, &v) ||
		    __builtin_add_overflow(v, (sherd_u128)(c - '0'), &v))
			return false;
	}
	*out = v;
	return true;
}

sherd_u128 sherd_rfdb_id_of(sherd_str text)
{
	uint8_t hash[SHERD_BLAKE3_BYTES];
	sherd_u128 id;
	if (sherd_rfdb_id_parse(text, &id))
		return id;
	sherd_blake3_of(text.ptr, text.len, hash);
	return sherd_get_u128(hash);
}

void sherd_rfdb_id_format(sherd_u128 id, char out[SHERD_RFDB_ID_TEXT])
{
	char digits[SHERD_RFDB_ID_TEXT];
	size_t n = 0;
	do {
		digits[n++] = (char)('0' + (int)(id % 10));
		id /= 10;
	} while (id);
	for (size_t i = 0; i < n; i++)
		out[i] = digits[n - 1 - i];
	out[n] = 0;
}
