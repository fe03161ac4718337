/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "parts.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "answer/answer.h"
#include "answer/names.h"
#include "answer/values.h"
#include "app/app.h"
#include "forecast/cost.h"
#include "util/html.h"
#include "util/units.h"
#include "util/utc.h"
#include "util/util.h"
#include "util/words.h"

void page_section(FILE *file, const char *id, const char *title)
{
        fprintf(file, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", id, id, title);
}

void page_section_end(FILE *file)
{
        fputs("</section>\n", file);
}

void page_table(FILE *file, const char *caption, const char *const *heads)
{
        fprintf(file, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n"
                      "<caption>%s</caption>\n<thead><tr>",
                caption, caption);
        for (size_t i = 0; heads[i]; i++)
                fprintf(file, "<th scope=\"col\"%s>%s</th>", strcmp(heads[i], "<") == 0 ? " class=\"minor\"" :
                        i == 0 || *heads[i] == '<' ? " class=\"text\"" : "",
                        *heads[i] == '<' ? _(heads[i] + 1) : _(heads[i]));
        fputs("</tr></thead>\n<tbody>\n", file);
}

void page_table_end(FILE *file)
{
        fputs("</tbody>\n</table>\n</div>\n", file);
}

void page_component_key(FILE *file, enum component component)
{
        fprintf(file, "<span class=\"key part %s\"></span>", component_names[component]);
}

void page_component_bar(FILE *file, const double component_j[COMPONENT_COUNT], double scale)
{
        double left = 0;

        fputs("<td class=\"bar\" aria-hidden=\"true\"><svg width=\"100%\" height=\"14\">", file);
        for (int c = 0; c < COMPONENT_COUNT; c++) {
                double width = component_j[c] * scale;

                if (!(width > 0))
                        continue;
                fprintf(file, "<rect class=\"part %s\" x=\"%.2f%%\" width=\"%.2f%%\" height=\"14\">",
                        component_names[c], left, width);
                fprintf(file, "<title>%s: %.2f J</title></rect>", _(component_names[c]), component_j[c]);
                left += width;
        }
        fputs("</svg></td>", file);
}

void page_cell(FILE *file, double value, double resolution, const char *unit)
{
        char whole[32], text[32];

        if (isnan(value))
                fprintf(file, "<td class=\"none\">%s</td>", _("unknown"));
        else
                fprintf(file, "<td><data value=\"%s\">%s%s%s</data></td>",
                        util_print_double(value, whole, sizeof(whole)),
                        answer_print_number(value, resolution, text), *unit ? "\xc2\xa0" : "", unit);
}

void page_bounds(FILE *file, const struct cost_value *value, const char *unit)
{
        char low[32], high[32], text[64], *to;

        if (isnan(value->low) || isnan(value->high)) {
                fprintf(file, "<td class=\"none\">%s</td>", _("unknown"));
                return;
        }
        answer_print_bounds(value, text);
        to = strstr(text, " .. ");
        if (!to)
                fprintf(file, "<td>%s</td>", text);
        else
                fprintf(file, "<td class=\"bounds\"><data value=\"%s\">%.*s</data> %s <data value=\"%s\">"
                              "%s</data>%s%s</td>",
                        util_print_double(value->low, low, sizeof(low)), (int)(to - text), text, _("to"),
                        util_print_double(value->high, high, sizeof(high)), to + 4, *unit ? "\xc2\xa0" : "", unit);
}

void page_name(FILE *file, const char *app, const char *name)
{
        char buf[APP_ID_MAX + 2];

        fputs("<bdi>", file);
        html_text(file, names_in_table(app, name, buf, sizeof(buf)));
        fputs("</bdi>", file);
}

char *page_when(int64_t time_ns, bool day_only, char buf[32])
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        /* Translators: for strftime(), which writes English names of days and months: use numbers. */
        if (!localtime_r(&seconds, &tm) || strftime(buf, 32,
                      day_only ? _("%a %e %b %Y") : _("%a %e %b %H:%M"), &tm) == 0)
                snprintf(buf, 32, "?");
        return buf;
}

void page_time(FILE *file, int64_t time_ns, bool day_only)
{
        char utc[32], text[32];

        utc_print(time_ns, utc, sizeof(utc));
        fprintf(file, "<time datetime=\"%s\">%s</time>", utc, page_when(time_ns, day_only, text));
}
