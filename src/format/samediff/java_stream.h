/* format/samediff/java_stream.h - the words that a manifest is made of, as Java's object streams spell them. Integers
 * are big-endian. */
#pragma once

enum {
	SHD_JAVA_REFERENCE = 0x71, /* to a handle, 32 bits */
	SHD_JAVA_OBJECT = 0x73,    /* its class, then its fields */
	SHD_JAVA_STRING = 0x74,    /* 16 bits of length, modified UTF-8 */
	SHD_JAVA_END = 0x78,
	SHD_JAVA_HANDLE = 0x7e0000 /* the first one */
};

/* Handles that the classes take, in the order in which a stream spells them. */
enum {
	SHD_JAVA_OF_MAP = 3,  /* LinkedHashMap, HashMap, the map itself */
	SHD_JAVA_OF_PAIR = 2, /* Pair, the text "Ljava/lang/Object;" */
	SHD_JAVA_OF_LONG = 2  /* Long, Number */
};

/* From the first byte to the fields of the map. */
#define SHD_JAVA_MAP                                                                                     \
	"\xac\xed\0\5sr\0\x17java.util.LinkedHashMap\x34\xc0\x4e\x5c\x10\x6c\xc0\xfb\2\0\1Z\0\x0b"       \
	"accessOrderxr\0\x11java.util.HashMap\5\7\xda\xc1\xc3\x16\x60\xd1\3\0\2F\0\x0aloadFactorI\0\x09" \
	"thresholdxp"
/* A class that was not spelled before. */
#define SHD_JAVA_PAIR                                                                                                \
	"r\0\x1forg.nd4j.common.primitives.Pair\0\0\0\0\0\0\0\x77\2\0\2L\0\3keyt\0\x12Ljava/lang/Object;L\0\5valueq" \
	"\0\x7e\0\5xp"
#define SHD_JAVA_LONG                                                                                   \
	"r\0\x0ejava.lang.Long\x3b\x8b\xe4\x90\xcc\x8f\x23\xdf\2\0\1J\0\5valuexr\0\x10java.lang.Number" \
	"\x86\xac\x95\x1d\x0b\x94\xe0\x8b\2\0\0xp"
