/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A plot in time as SVG. Lines and areas are in an inner plane that is stretched to the width of the page; texts are
 * outside it, at percents of the width, and so keep their size on a phone. Labels of values are in the
 * margin on the left (plot.css), so that nothing is drawn over them.
 */

#include "plot.h"

#include <math.h>
#include <time.h>

#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define TOP 20     /* px above the plane for the unit, and below it for the labels of time */
#define BELOW 22
#define LINES 4

double plot_nice(double most)
{
        double power = pow(10, floor(log10(most > 0 ? most : 1))), part = most / power;

        return most > 0 ? power * (part <= 1 ? 1 :
                                   part <= 2 ? 2 :
                                   part <= 4 ? 4 :
                                   part <= 6 ? 6 :
                                   part <= 8 ? 8 :
                                               10) :
                          1;
}

double plot_x(const struct plot *plot, int64_t time_ns)
{
        double part = (double)(time_ns - plot->from_ns) / (double)(plot->to_ns - plot->from_ns);

        return 1000 * fmin(fmax(part, 0), 1);
}

double plot_y(const struct plot *plot, double value)
{
        return plot->height *
               (1 - (fmin(fmax(value, plot->bottom), plot->top) - plot->bottom) / (plot->top - plot->bottom));
}

void plot_begin(struct plot *plot, const char *id, const char *title, const char *description)
{
        fprintf(plot->file,
                "<svg class=\"plot\" width=\"100%%\" height=\"%d\" role=\"img\" aria-labelledby=\"%s-t "
                "%s-d\" xmlns=\"http://www.w3.org/2000/svg\"><title id=\"%s-t\">%s</title><desc id=\"%s-d\">"
                "%s</desc>\n",
                plot->height + TOP + BELOW, id, id, id, title, id, description);
        fprintf(plot->file, "<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 1000 %d\" "
                            "preserveAspectRatio=\"none\">\n", TOP,
                plot->height, plot->height);
        for (int i = 0; i <= LINES; i++)
                fprintf(plot->file, "<path class=\"%s\" d=\"M0 %gH1000\"/>\n", i == LINES ? "axis" : "grid",
                        (double)plot->height * i / LINES);
}

/* Steps of the labels of time, s; a longer one than a day is a number of days. */
static int64_t step_of(int64_t span_s)
{
        static const int64_t steps[] = { 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600 };

        for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
                if (span_s / steps[i] <= 8)
                        return steps[i];
        return 0; /* by month */
}

/* The first label's time, or the one after @tm: a local time that is a multiple of the step. */
static void next_label(struct tm *tm, int64_t step_s, int months)
{
        if (step_s == 0)
                tm->tm_mon += months;
        else if (step_s >= 86400)
                tm->tm_mday += (int)(step_s / 86400);
        else
                tm->tm_sec += (int)step_s;
        tm->tm_isdst = -1;
}

static void time_labels(const struct plot *plot)
{
        int64_t span_s = (plot->to_ns - plot->from_ns) / (int64_t)NS_PER_S, step_s = step_of(span_s);
        int months = step_s ? 0 : (int)(span_s / (8 * 30 * 86400)) + 1;
        time_t at = (time_t)(plot->from_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (!localtime_r(&at, &tm))
                return;
        tm.tm_sec = tm.tm_min = tm.tm_hour = 0;
        tm.tm_isdst = -1;
        if (!step_s)
                tm.tm_mday = 1;
        for (int i = 0, shown = 0; i < 400 && shown < 20; i++, next_label(&tm, step_s, months)) {
                struct tm copy = tm;
                char text[32];
                double x;

                at = mktime(&copy);
                if (at == (time_t)-1 || at > plot->to_ns / (int64_t)NS_PER_S)
                        break;
                x = plot_x(plot, (int64_t)at * (int64_t)NS_PER_S) / 10;
                tm = copy;
                if (at < plot->from_ns / (int64_t)NS_PER_S || x > 95)
                        continue;
                strftime(text, sizeof(text), step_s && step_s < 86400 && (tm.tm_hour || tm.tm_min) ? "%H:%M" :
                         step_s ? _("%e %b") : _("%b %Y"), &tm);
                fprintf(plot->file, "<text class=\"x%s\" x=\"%.2f%%\" y=\"%d\"%s>%s</text>\n",
                        shown % 2 ? " minor" : "", x, plot->height + TOP + 16,
                        x < 3 ? "" : " text-anchor=\"middle\"", text);
                shown++;
        }
}

void plot_end(struct plot *plot)
{
        fputs("</svg>\n", plot->file);
        fprintf(plot->file, "<text x=\"0\" y=\"%d\">%s</text>\n", TOP - 8, plot->unit);
        for (int i = 0; i <= LINES; i++)
                fprintf(plot->file, "<text x=\"-6\" y=\"%g\" text-anchor=\"end\">%g</text>\n",
                        TOP + 4 + (double)plot->height * i / LINES,
                        plot->bottom + (plot->top - plot->bottom) * (LINES - i) / LINES);
        time_labels(plot);
        fputs("</svg>\n", plot->file);
}
