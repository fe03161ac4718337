/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of a run: its text, and the amounts from which the script in develop/emulate/page/ draws pictures, and
 * which it prices again when brightness, signal, battery, carrier or target are changed.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer-run.h"
#include "answer/answer.h"
#include "answer/options.h"
#include "page/page.h"
#include "util/html.h"
#include "util/offer.h"
#include "util/paths.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

#define PARTS 120

/* Texts that the page's script shows, by key, so that they can be translated. */
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
        { "target", N_("Target") },
        { "carrier", N_("Carrier") },
        { "usual", N_("the network's") },
        { "moved", N_("Another target or carrier would also change the times of packets and computations; joulecast "
                      "emulate runs the app again.") },
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

/* Writes @n doubles as a JSON array: every @step-th one from @list on. */
static void print_list(FILE *file, const double *list, size_t step, size_t n)
{
        fputc('[', file);
        for (size_t i = 0; i < n; i++) {
                fputs(i ? "," : "", file);
                print_number(file, list[i * step]);
        }
        fputc(']', file);
}

/* Writes the radio's energy over time with each signal. */
static int print_air(FILE *file, const struct answer_run *answer, double (*series)[COMPONENT_COUNT])
{
        enum component air = answer_run_air(answer);
        struct condition condition = answer->condition;
        struct target target = answer->target; /* a copy of pointers */
        int err = 0;

        condition.target = &target;
        fprintf(file, "\"air_name\":\"%s\",\n\"air\":{", component_names[air]);
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

/* Writes the radio's energy with one carrier, by signal. */
static int print_carrier(FILE *file, const struct answer_run *answer, const char *name,
                         double (*series)[COMPONENT_COUNT])
{
        const struct price *price = &answer->prices[0];
        int err;

        fputs("{\"carrier\":", file);
        html_json(file, name);
        fputs(",\n", file);
        print_key(file, "low", price->energy_j.low / price->energy_j.value);
        print_key(file, "high", price->energy_j.high / price->energy_j.value);
        err = print_air(file, answer, series);
        err = err ? err : print_states(file, answer);
        fputs("\"end\":0}", file);
        return err;
}

static int print_target(FILE *file, const struct answer_run *answer, double (*series)[COMPONENT_COUNT])
{
        double battery_mwh = isnan(answer->condition.battery_mwh) ? answer->target.profile->energy_full_mwh :
                             answer->condition.battery_mwh;
        bool first = true;
        int err = price_series(&answer->condition, &answer->recorded->runs[0], PARTS, series);

        fputs("{\"target\":", file);
        html_json(file, answer->target.name);
        fputs(",\n", file);
        print_key(file, "battery_mwh", battery_mwh);
        fputs("\"series\":{", file);
        for (int c = 0; !err && c < COMPONENT_COUNT; c++)
                if (isfinite(answer->prices[0].component_j[c])) {
                        fprintf(file, "%s\"%s\":", first ? "" : ",\n", component_names[c]);
                        print_list(file, &series[0][c], COMPONENT_COUNT, PARTS);
                        first = false;
                }
        fputs("},\n", file);
        return err ? err : print_display(file, answer);
}

/* Prices the run for another target and carrier; NULL: the run's own. 1; 0: it has no price for them; -ENOMEM. */
static int make_variant(const struct answer_run *answer, const char *target, const char *carrier,
                        struct recorded_run *recorded, struct answer_run *ret)
{
        int err;

        *recorded = *answer->recorded;
        recorded->target = target ? (char *)target : recorded->target; /* nobody changes or frees it there */
        recorded->carrier = carrier ? (char *)carrier : recorded->carrier;
        err = answer_run_make(recorded, target ? NAN : answer->condition.battery_mwh, NULL, ret);
        return err == -ENOMEM ? err : err == 0;
}

/* Writes a target with each carrier of the network's radio, the target's own first. */
static int print_variants(FILE *file, const struct answer_run *answer, const char *target,
                          const struct radios *radios, double (*series)[COMPONENT_COUNT], bool first)
{
        struct recorded_run recorded;
        struct answer_run variant;
        int found = make_variant(answer, target, NULL, &recorded, &variant), err = MIN(found, 0);

        if (found <= 0)
                return found;
        fputs(first ? "" : ",\n", file);
        err = print_target(file, &variant, series);
        fputs("\"carriers\":[", file);
        err = err ? err : print_carrier(file, &variant, recorded.carrier ? recorded.carrier : "", series);
        answer_run_clear(&variant);
        for (size_t i = 0; !err && i < radios->n_carriers; i++) {
                const char *name = radios->carriers[i].name;

                if (answer->recorded->carrier && strcmp(answer->recorded->carrier, name) == 0)
                        continue;
                found = make_variant(answer, target, name, &recorded, &variant);
                err = MIN(found, 0);
                if (found <= 0)
                        continue;
                fputs(",\n", file);
                err = print_carrier(file, &variant, name, series);
                answer_run_clear(&variant);
        }
        fputs("]}", file);
        return err;
}

/* The run's own target, and those that come with joulecast. */
static int print_targets(FILE *file, const struct answer_run *answer, double (*series)[COMPONENT_COUNT])
{
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        _cleanup_free_ char *folder = NULL, *names = NULL;
        char *next, *name;
        int err = paths_data("profiles", &folder);

        if (target_radios(&answer->network, NULL, &radios) == -ENOMEM)
                return -ENOMEM;
        names = err ? NULL : offer_list(folder);
        fputs("\"targets\":[", file);
        err = print_variants(file, answer, NULL, &radios, series, true);
        for (next = names; !err && (name = strsep(&next, "\n"));)
                if (*name && strcmp(name, answer->recorded->target) != 0)
                        err = print_variants(file, answer, name, &radios, series, false);
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
        err = err ? err : print_targets(file, answer, series);
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
                snprintf(text, sizeof(text), _("This is the mean of %zu runs; all that follows is from the run with "
                                               "seed %llu."),
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
                "class=\"answer\" aria-live=\"polite\"></p><p id=\"moved\" class=\"note\"></p>"
                "<div class=\"wide\" tabindex=\"0\"><table><thead><tr>"
                "<th class=\"text\">%s</th><th>%s</th><th>%s</th><th>%s</th></tr></thead><tbody id=\"parts\"></tbody>"
                "</table></div></section>\n",
                _("What if"), _("These changes do not affect the timing, so they need no other run. The interval "
                                "keeps its proportion."),
                _("Component"), _("Energy"), _("Power"), _("Part"));
        fprintf(file, "<section><h2>%s</h2><div id=\"power\"></div><div id=\"radio\"></div></section>"
                      "</main>\n", _("Over time"));
        fprintf(file, "<footer>%s</footer>\n", _("Emulated, not measured: docs/emulation.md says how right that is."));
        err = print_data(file, answer);
        fprintf(file, "<script>%s</script>\n", emulate_js);
        html_end(file);
        text = text_close(file, &kept);
        if (err || !text)
                return -ENOMEM;
        return page_write(path, text) == CODE_OK ? 0 : -EIO;
}
