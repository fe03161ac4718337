/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* A plot: an <svg> of the page's width and @height px, with a grid; coordinates are in a plane of 1000 x @height. */
struct plot {
        FILE *file;
        int64_t from_ns, to_ns;
        double top;     /* value at the upper edge */
        double bottom;  /* at the lower */
        int height;
        const char *unit;
};

/* @id: unique in the page. @description: text for screen readers. Both are ours, and not escaped. */
void plot_begin(struct plot *plot, const char *id, const char *title, const char *description);
double plot_x(const struct plot *plot, int64_t time_ns); /* 0 to 1000 */
double plot_y(const struct plot *plot, double value);    /* px */
void plot_end(struct plot *plot);                        /* with labels of both axes */
double plot_nice(double most);                           /* the next larger 1, 2, 5 times a power of ten */
