#include "report/report.h"

/* The worst ratio of sides when sizes of this sum, the largest and the least among them, stand in a row along a side.
 */
static double worst_ratio(double sum, double largest, double least, double side)
{
	double thick = sum / side, a = largest / thick / thick, b = thick * thick / least;
	return a > b ? a : b;
}

/* Takes as many sizes as make the row squarer, and lays them along the shorter side of what is free. */
static size_t lay_row(cli_tile *out, const double *sizes, size_t count, double scale, cli_tile *room)
{
	bool upright = room->width >= room->height;
	double side = upright ? room->height : room->width, sum = sizes[0] * scale, along = 0;
	size_t n = 1;
	while (n < count) {
		double more = sum + sizes[n] * scale;
		if (worst_ratio(more, sizes[0] * scale, sizes[n] * scale, side) >
		    worst_ratio(sum, sizes[0] * scale, sizes[n - 1] * scale, side))
			break;
		sum = more;
		n++;
	}
	double thick = side > 0 ? sum / side : 0;
	for (size_t i = 0; i < n; i++) {
		double length = thick > 0 ? sizes[i] * scale / thick : 0;
		out[i] = upright ? (cli_tile){room->x, room->y + along, thick, length}
		                 : (cli_tile){room->x + along, room->y, length, thick};
		along += length;
	}
	room->x += upright ? thick : 0;
	room->y += upright ? 0 : thick;
	room->width -= upright ? thick : 0;
	room->height -= upright ? 0 : thick;
	return n;
}

void cli_treemap(cli_tile *out, const double *sizes, size_t count)
{
	/* As wide as it is shown: twice as wide as high. */
	cli_tile room = {0, 0, 2, 1};
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += sizes[i];
	for (size_t i = 0; i < count && sum > 0;)
		i += lay_row(out + i, sizes + i, count - i, 2 / sum, &room);
	for (size_t i = 0; i < count; i++) {
		out[i].x /= 2;
		out[i].width /= 2;
	}
}
