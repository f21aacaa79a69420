/* format/samediff/style.h - the same graph in FlatBuffers, as different files hold it. */
#pragma once

typedef enum shd_samediff_style {
	/* SameDiff to 1.0.0-M2.1: FlatArray.shape is shape information, byteOrder the order of bytes, every array has
	 * its buffer. Sequences in slot 9. */
	SHD_SAMEDIFF_LEGACY = 0,
	/* Inside of a container: as LEGACY, but buffers are absent, types that SameDiff has no number for have one of
	 * ours (docs/formats/container.md), and sub-graphs may be there. Metadata lies elsewhere. */
	SHD_SAMEDIFF_CONTAINER = 1,
	/* SDNB: FlatArray.shape is the dimensions, byteOrder the order of elements, elements are little-endian. Arrays
	 * of SHD_SAMEDIFF_INLINE bytes or more that belong to variables lie outside: FlatVariable.ndarray is absent.
	 * Metadata in slots 9 and 10, sub-graphs in slot 11. */
	SHD_SAMEDIFF_SDNB = 2
} shd_samediff_style;

#define SHD_SAMEDIFF_INLINE (1u << 20)
/* Inside of a container a type that SameDiff has no number for is this and our own number of it. */
#define SHD_SAMEDIFF_OUR_TYPES 100
/* SameDiff's numbers of types end with these: of numbers, and of texts. */
#define SHD_SAMEDIFF_LAST_NUMBER 17
#define SHD_SAMEDIFF_FIRST_TEXT 50
#define SHD_SAMEDIFF_LAST_TEXT 52
/* Graphs inside of graphs, at most so deep. */
#define SHD_SAMEDIFF_DEPTH 16
