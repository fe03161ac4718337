/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of a run: what is said of it, and the amounts that the script in predict/emulate/page/ makes pictures of and prices
 * again when brightness, signal or battery are changed.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer-run.h"
#include "answer.h"
#include "options.h"
#include "page/page.h"
#include "util/html.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

#define PARTS 120

/* What the script says. */
static const struct {
        const char *key, *text;
} words[] = {
        { "answer", N_("%.2f J (%.2f .. %.2f): %.0f mW. The battery would last %.1f h (%.1f .. %.1f).") },
        { "power", N_("Power") },
        { "up_to", N_("up to %.0f mW") },
        { "states", N_("States of the radio") },
        { "sent", N_("Sent") },
        { "received", N_("Received") },
        { "no_packets", N_("No packets.") },
        { "brightness", N_("Brightness") },
        { "signal", N_("Signal") },
        { "battery", N_("Battery, mWh") },
        { "high", N_("high") },
        { "medium", N_("medium") },
        { "low", N_("low") },
        { "cpu", N_("cpu") },
        { "display", N_("display") },
        { "wifi", N_("wifi") },
        { "cellular", N_("cellular") },
        { "base", N_("base") },
};

static void print_number(FILE *file, double value)
{
        char text[32];

        fputs(isfinite(value) ? util_print_double(value == 0 ? 0 : value, text, sizeof(text)) : "null", file);
}

static void print_key(FILE *file, const char *key, double value)
{
        fprintf(file, "\"%s\":", key);
        print_number(file, value);
        fputs(",\n", file);
}

/* @list: every @step-th double from there on. */
static void print_list(FILE *file, const double *list, size_t step, size_t n)
{
        fputc('[', file);
        for (size_t i = 0; i < n; i++) {
                fputs(i ? "," : "", file);
                print_number(file, list[i * step]);
        }
        fputc(']', file);
}

static const char *air_name(const struct answer_run *answer)
{
        return component_names[answer->network.kind == NETWORK_WIFI ? COMPONENT_WIFI : COMPONENT_CELLULAR];
}

/* Energy of the radio by each signal. */
static int print_air(FILE *file, const struct answer_run *answer, double (*series)[COMPONENT_COUNT])
{
        enum component air = answer->network.kind == NETWORK_WIFI ? COMPONENT_WIFI : COMPONENT_CELLULAR;
        struct condition condition = answer->condition;
        struct target target = answer->target; /* a copy of pointers */
        int err = 0;

        condition.target = &target;
        fprintf(file, "\"air_name\":\"%s\",\n\"air\":{", air_name(answer));
        for (int s = 0; !err && s < RADIO_SIGNALS && target.has_radio; s++) {
                target.signal = (enum radio_signal)s;
                err = price_series(&condition, &answer->recorded->runs[0], PARTS, series);
                fprintf(file, "%s\"%s\":", s ? ",\n" : "", radio_signals[s]);
                print_list(file, &series[0][air], COMPONENT_COUNT, PARTS);
        }
        fputs("},\n", file);
        return err;
}

static int print_states(FILE *file, const struct answer_run *answer)
{
        double (*seconds)[RADIO_STATES_MAX] = calloc(PARTS, sizeof(*seconds));
        int err = seconds ? 0 : -ENOMEM;

        if (!err && answer->target.has_radio)
                err = price_radio_states(&answer->condition, &answer->recorded->runs[0], PARTS, seconds);
        fputs("\"states\":[", file);
        for (size_t i = 0; !err && answer->target.has_radio && i < answer->target.radio.n_states; i++) {
                fputs(i ? ",\n[" : "[", file);
                html_json(file, answer->target.radio.states[i].name);
                fputc(',', file);
                print_list(file, &seconds[0][i], RADIO_STATES_MAX, PARTS);
                fputc(']', file);
        }
        fputs("],\n", file);
        free(seconds);
        return err;
}

static void print_packets(FILE *file, const struct run *run)
{
        double bytes[RADIO_DIRECTIONS][PARTS] = { 0 };

        for (size_t i = 0; i < run->n_packets; i++) {
                const struct packet_record *packet = &run->packets[i];
                double part = (double)packet->in_ns / (double)run->wall_ns * PARTS;

                if (packet->verdict != PACKET_DROPPED)
                        bytes[packet->direction][(size_t)fmin(fmax(part, 0), PARTS - 1)] += packet->bytes;
        }
        fputs("\"sent\":", file);
        print_list(file, bytes[RADIO_TX], 1, PARTS);
        fputs(",\n\"received\":", file);
        print_list(file, bytes[RADIO_RX], 1, PARTS);
        fputs(",\n", file);
}

static int print_display(FILE *file, const struct answer_run *answer)
{
        struct condition condition = answer->condition;
        int err = 0;

        fputs("\"display_j\":[", file);
        for (int percent = 0; !err && percent <= 100; percent++) {
                double joules = NAN;

                condition.brightness_percent = percent;
                err = price_display(&condition, &answer->recorded->runs[0], &joules);
                fputs(percent ? "," : "", file);
                print_number(file, joules);
        }
        fputs("],\n", file);
        return err;
}

static int print_data(FILE *file, const struct answer_run *answer)
{
        double (*series)[COMPONENT_COUNT] = calloc(PARTS, sizeof(*series));
        const struct price *price = &answer->prices[0];
        double battery_mwh = isnan(answer->condition.battery_mwh) ? answer->target.profile->energy_full_mwh :
                             answer->condition.battery_mwh;
        bool first = true;
        int err = series ? price_series(&answer->condition, &answer->recorded->runs[0], PARTS, series) : -ENOMEM;

        fprintf(file, "<script type=\"application/json\" id=\"data\">{\"parts\":%d,\n", PARTS);
        print_key(file, "wall_s", price->wall_s);
        print_key(file, "battery_mwh", battery_mwh);
        print_key(file, "brightness", round(answer->condition.brightness_percent));
        print_key(file, "low", price->energy_j.low / price->energy_j.value);
        print_key(file, "high", price->energy_j.high / price->energy_j.value);
        fprintf(file, "\"signal\":\"%s\",\n\"series\":{", radio_signals[answer->target.signal]);
        for (int c = 0; !err && c < COMPONENT_COUNT; c++)
                if (isfinite(price->component_j[c])) {
                        fprintf(file, "%s\"%s\":", first ? "" : ",\n", component_names[c]);
                        print_list(file, &series[0][c], COMPONENT_COUNT, PARTS);
                        first = false;
                }
        fputs("},\n", file);
        err = err ? err : print_display(file, answer);
        err = err ? err : print_air(file, answer, series);
        err = err ? err : print_states(file, answer);
        print_packets(file, &answer->recorded->runs[0]);
        fputs("\"words\":{", file);
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                fprintf(file, "%s\"%s\":", i ? ",\n" : "", words[i].key);
                html_json(file, _(words[i].text));
        }
        fputs("}}</script>\n", file);
        free(series);
        return err;
}

static void print_head(FILE *file, const struct answer_run *answer)
{
        char text[512];

        fputs("<header><h1>", file);
        snprintf(text, sizeof(text), _("%s on %s, emulated"), answer->target.name, answer->network.name);
        html_text(file, text);
        fputs("</h1><p class=\"sub\">", file);
        snprintf(text, sizeof(text), _("%.2f J (%.2f .. %.2f) in %.2f s."), answer->price.energy_j.value,
                 answer->price.energy_j.low, answer->price.energy_j.high, answer->price.wall_s);
        html_text(file, text);
        if (answer->recorded->n_runs > 1) {
                snprintf(text, sizeof(text), _("This is the mean of %zu runs; what follows is of the one with seed %llu."),
                         answer->recorded->n_runs, (unsigned long long)answer->recorded->runs[0].seed);
                fputc(' ', file);
        } else {
                *text = '\0';
        }
        html_text(file, text);
        fputs("</p></header>\n", file);
}

int answer_run_page(const struct answer_run *answer, const char *path)
{
        struct text_kept kept;
        FILE *file = text_open(&kept);
        _cleanup_free_ char *text = NULL;
        int err;

        if (!file)
                return -ENOMEM;
        html_begin_script(file, _("joulecast emulate"), words_language(), emulate_css, emulate_js_hash);
        print_head(file, answer);
        fprintf(file, "<main><section><h2>%s</h2><p>%s</p><div id=\"what\" class=\"what\"></div><p id=\"answer\" "
                "class=\"answer\" aria-live=\"polite\"></p><div class=\"wide\" tabindex=\"0\"><table><thead><tr>"
                "<th class=\"text\">%s</th><th>%s</th><th>%s</th><th>%s</th></tr></thead><tbody id=\"parts\"></tbody>"
                "</table></div></section>\n",
                _("What if"), _("These move nothing in time, so they need no other run. The interval keeps its proportion."),
                _("Component"), _("Energy"), _("Power"), _("Part"));
        fprintf(file, "<section><h2>%s</h2><div id=\"power\"></div><div id=\"radio\"></div></section></main>\n", _("Over time"));
        fprintf(file, "<footer>%s</footer>\n", _("Emulated, not measured: docs/emulation.md says how right that is."));
        err = print_data(file, answer);
        fprintf(file, "<script>%s</script>\n", emulate_js);
        html_end(file);
        text = text_close(file, &kept);
        if (err || !text)
                return -ENOMEM;
        return page_write(path, text) == CODE_OK ? 0 : -EIO;
}
