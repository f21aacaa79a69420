#include "format/samediff/hash.h"

#include "base/error.h"

#define FACTOR 7664345821815920749u

/* The state after so many rounds, entry by entry. */
void shd_samediff_hasher_init(shd_samediff_hasher *hasher)
{
	uint64_t h = 0x544B2FBACAAF1684u;
	for (int i = 0; i < 256; i++) {
		for (int round = 0; round < 31; round++) {
			h ^= h >> 7;
			h ^= h << 11;
			h ^= h >> 10;
		}
		hasher->table[i] = h;
	}
}

/* Characters are hashed as 16 bits: the low byte, then the high one, which is 0 in the names of ops. */
uint64_t shd_samediff_hash(const shd_samediff_hasher *hasher, shd_str name)
{
	uint64_t h = 0xBB40E64DA205B064u;
	for (size_t i = 0; i < name.len; i++) {
		h = h * FACTOR ^ hasher->table[(uint8_t)name.ptr[i]];
		h = h * FACTOR ^ hasher->table[0];
	}
	return h;
}

const char *shd_samediff_registered_name(const char *op)
{
	static const char *const synonyms[][2] = {
		{"mmul", "matmul"},
		{"stridedslice", "strided_slice"},
		{"tensorarrayreadv3", "read_list"},
		{"tensorarraywritev3", "write_list"},
		{"tensorarrayv3", "create_list"},
		{"tensorarraygatherv3", "gather_list"},
		{"tensorarraysizev3", "size_list"},
		{"tensorarraysplitv3", "split_list"},
		{"tensorarrayscatterv3", "scatter_list"},
	};
	for (size_t i = 0; i < COUNT_OF(synonyms); i++)
		if (strcmp(op, synonyms[i][0]) == 0)
			return synonyms[i][1];
	return op;
}
