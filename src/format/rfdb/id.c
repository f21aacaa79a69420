#include "format/rfdb/id.h"

#include "codec/blake3.h"

bool shd_rfdb_id_parse(shd_str digits, shd_u128 *out)
{
	shd_u128 v = 0;
	if (!digits.len)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		char c = digits.ptr[i];
		if (c < '0' || c > '9' || __builtin_mul_overflow(v, (shd_u128)10, &v) ||
		    __builtin_add_overflow(v, (shd_u128)(c - '0'), &v))
			return false;
	}
	*out = v;
	return true;
}

shd_u128 shd_rfdb_id_of(shd_str text)
{
	uint8_t hash[SHD_BLAKE3_BYTES];
	shd_u128 id;
	if (shd_rfdb_id_parse(text, &id))
		return id;
	shd_blake3_of(text.ptr, text.len, hash);
	return shd_get_u128(hash);
}

void shd_rfdb_id_format(shd_u128 id, char out[SHD_RFDB_ID_TEXT])
{
	char digits[SHD_RFDB_ID_TEXT];
	size_t n = 0;
	do {
		digits[n++] = (char)('0' + (int)(id % 10));
		id /= 10;
	} while (id);
	for (size_t i = 0; i < n; i++)
		out[i] = digits[n - 1 - i];
	out[n] = 0;
}
