/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/json-print.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

struct progress {
        bool json;
        bool only;       /* some components */
        size_t in_pass;  /* gauge: states since the last line of a pass */
};

int progress_open(bool json, struct progress **ret)
{
        *ret = calloc(1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        (*ret)->json = json;
        return 0;
}

void progress_close(struct progress *progress)
{
        free(progress);
}

/* Flushes at once, for people who watch. A reader may close the pipe; main() reports other errors. */
static void flush(void)
{
        if (fflush(stdout) < 0 && errno == EPIPE)
                clearerr(stdout);
}

static void print_json(cJSON *json)
{
        _cleanup_free_ char *text = NULL;

        json_add_schema(json);
        text = json_print(json, JSON_LINE);
        if (text)
                puts(text);
        flush();
}

/* Four digits are enough; NaN is printed as null. */
static void add(cJSON *json, const char *name, double value)
{
        double scale = fabs(value) >= 100 ? 10 : fabs(value) >= 1 ? 1000 : 10000;

        cJSON_AddNumberToObject(json, name, isfinite(value) ? round(value * scale) / scale : NAN);
}

static void begin_line(const struct progress_start *start)
{
        bool sapp = strcmp(start->plan, "sapp") == 0;
        char expected[ESTIMATE_TEXT_MAX], plan[80] = "";

        if (*start->plan)
                snprintf(plan, sizeof(plan), " (%s)", sapp ? _("SApp's plan") : start->plan);
        if (start->resumed)
                printf(words_counted("Going on with %s by %s after %zu observation, from %.0f %%\n",
                                     "Going on with %s by %s after %zu observations, from %.0f %%\n",
                                     start->observations),
                       start->device, start->method, start->observations, start->percent);
        else
                text_print(stdout,
                           _("Calibrating %s by %s%s, from %.0f %%: about %zu observations, %s"),
                           start->device, start->method, plan, start->percent, start->expected.observations,
                           estimate_text(&start->expected, expected));
        flush();
}

void progress_begin(struct progress *progress, const struct progress_start *start)
{
        cJSON *json;

        if (!progress)
                return;
        progress->only = strncmp(start->plan, "only ", strlen("only ")) == 0;
        if (!progress->json) {
                begin_line(start);
                return;
        }
        json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "device", start->device);
        cJSON_AddStringToObject(json, "method", start->method);
        cJSON_AddStringToObject(json, "plan", start->plan);
        cJSON_AddNumberToObject(json, "run", (double)start->run);
        cJSON_AddBoolToObject(json, "resumed", start->resumed);
        cJSON_AddNumberToObject(json, "observations", (double)start->observations);
        add(json, "percent", start->percent);
        estimate_to_json(&start->expected, json);
        print_json(json);
}

static void observation_json(const struct progress_state *state, const struct observation *observation,
                             double power_mw)
{
        cJSON *json = cJSON_CreateObject();

        cJSON_AddNumberToObject(json, "sequence", observation->sequence);
        cJSON_AddNumberToObject(json, "pass", observation->pass);
        cJSON_AddStringToObject(json, "mode", observation->mode);
        cJSON_AddStringToObject(json, "kind", observation->kind);
        add(json, "seconds", (double)observation->elapsed_ns / (double)NS_PER_S);
        add(json, "power_mw", power_mw);
        add(json, "percent", state->percent);
        if (observation->rejected[0])
                cJSON_AddStringToObject(json, "rejected", observation->rejected);
        add(json, "half_width_percent", state->half_width_percent);
        add(json, "battery_percent_used", state->used_percent);
        add(json, "hours", state->hours);
        add(json, "hours_left", state->hours_left);
        print_json(json);
}

static const char *known_text(const struct progress_state *state, const char *before, char *buf, size_t size)
{
        double half_width = state->half_width_percent;

        *buf = '\0';
        if (!isnan(half_width))
                snprintf(buf, size, "%s+- %.1f %% (95 %%)", before, half_width);
        return buf;
}

/* One line for each observation; a gauge's short dwells make one line a pass. */
static void observation_line(struct progress *progress, const struct progress_state *state,
                             const struct observation *observation, double power_mw)
{
        char known[32], left[32], power[32] = "";

        progress->in_pass += observation->rejected[0] == '\0';
        if (observation->rejected[0]) {
                printf(_("         %-28s left out: %s\n"), observation->mode, observation->rejected);
        } else if (observation->method != METHOD_GAUGE) {
                if (!isnan(power_mw))
                        snprintf(power, sizeof(power), "%.0f mW", power_mw);
                printf(_("  %3.0f %%  %-28s %8s  %-16s %s left\n"), state->percent,
                       observation->mode, power, known_text(state, "", known, sizeof(known)),
                       estimate_span_text(state->hours_left, left, sizeof(left)));
        }
        flush();
}

void progress_pass(struct progress *progress, const struct progress_state *state, uint32_t pass,
                   uint32_t passes)
{
        char known[32], left[32];

        if (!progress || progress->json)
                return;
        printf(words_counted("  pass %u of %u: %zu state%s; %s left\n", "  pass %u of %u: %zu states%s; %s left\n",
                             progress->in_pass), pass, passes, progress->in_pass,
               known_text(state, ", ", known, sizeof(known)),
               estimate_span_text(state->hours_left, left, sizeof(left)));
        flush();
        progress->in_pass = 0;
}

void progress_observation(struct progress *progress, const struct progress_state *state,
                          const struct observation *observation, double power_mw)
{
        if (!progress)
                return;
        if (progress->json)
                observation_json(state, observation, power_mw);
        else
                observation_line(progress, state, observation, power_mw);
}

void progress_paused(struct progress *progress, const struct progress_state *state, const char *reason)
{
        cJSON *json;

        if (!progress)
                return;
        if (!progress->json) {
                printf("  %3.0f %%  ", state->percent);
                printf(reason ? _("paused: %s\n") : _("going on\n"), reason ? _(reason) : "");
                flush();
                return;
        }
        json = cJSON_CreateObject();
        cJSON_AddBoolToObject(json, "paused", reason != NULL);
        if (reason)
                cJSON_AddStringToObject(json, "reason", reason);
        add(json, "percent", state->percent);
        add(json, "hours", state->hours);
        print_json(json);
}

void progress_wifi(struct progress *progress, const struct progress_state *state, bool back, double retry_s)
{
        char span[32], text[256];
        cJSON *json;

        if (!progress)
                return;
        if (!progress->json) {
                if (back)
                        snprintf(text, sizeof(text), "%s", _("the access point can be reached again"));
                else if (isfinite(retry_s))
                        snprintf(text, sizeof(text),
                                 _("no usable access point; states with WiFi are postponed and tried again in "
                                   "%s"),
                                 estimate_span_text(retry_s / 3600, span, sizeof(span)));
                else
                        snprintf(text, sizeof(text), "%s",
                                 _("no usable access point; states with WiFi are left out from now on"));
                printf(_("  %3.0f %%  WiFi: %s\n"), state->percent, text);
                flush();
                return;
        }
        json = cJSON_CreateObject();
        cJSON_AddBoolToObject(json, "wifi", back);
        if (!back)
                add(json, "retry_seconds", retry_s);
        add(json, "percent", state->percent);
        add(json, "hours", state->hours);
        print_json(json);
}

static void add_text(cJSON *json, const char *name, const char *text)
{
        cJSON_AddItemToObject(json, name, text && *text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

/* Other programs read this line; docs/json.md has its keys. */
static void done_json(const struct progress_state *state, const struct estimator_result *fit, bool done)
{
        cJSON *json = cJSON_CreateObject();

        cJSON_AddBoolToObject(json, "done", done);
        add(json, "battery_percent_used", state->used_percent);
        add(json, "hours", state->hours);
        cJSON_AddNumberToObject(json, "observations", (double)state->observations);
        cJSON_AddBoolToObject(json, "validated", fit && fit->validated);
        cJSON_AddStringToObject(json, "stopped", state->stopped ? state->stopped : "");
        add_text(json, "profile", fit ? fit->profile : NULL);
        add_text(json, "kept", fit ? fit->kept : NULL);
        add_text(json, "worse", fit ? fit->worse : NULL);
        print_json(json);
}

void progress_interrupted(struct progress *progress, const struct progress_state *state)
{
        if (progress->json)
                done_json(state, NULL, false);
}

static void print_validation(const struct progress *progress, const struct estimator_result *fit)
{
        if (fit->validated)
                text_print(stdout, _("Validated: the mixtures that were held back came out as predicted."));
        else if (fit->doubt[0])
                text_print(stdout, _("Not validated: %s."), fit->doubt);
        else if (fit->off.mode[0])
                text_print(stdout,
                           _("Not validated: the held-back mixture %s drew %.0f mW, predicted were %.0f +- "
                           "%.0f mW (99 %%)."),
                           fit->off.mode, fit->off.measured_mw, fit->off.predicted_mw,
                           fit->off.half_width_mw);
        else if (progress->only)
                text_print(stdout, _("The validation stays that of the calibration before: --only holds back "
                                     "no mixtures."));
        else
                text_print(stdout, _("Not validated: no held-back mixtures were measured."));
}

static void print_profile(const struct estimator_result *fit, const char *profile)
{
        if (fit->worse[0]) {
                text_print(stdout, _("%s stays in use: the new profile %s."), profile, _(fit->worse));
                printf(_("To use it nevertheless: joulecast profile use %s --profile %s\n"), fit->profile, profile);
                return;
        }
        printf(_("The profile is in %s\n"), profile);
        if (fit->kept[0])
                printf(_("The one before is kept as %s\nTo go back to it: joulecast profile undo --profile %s\n"),
                       fit->kept, profile);
}

void progress_done(struct progress *progress, const struct progress_state *state,
                   const struct estimator_result *fit, const char *profile)
{
        char span[32];

        if (progress->json) {
                done_json(state, fit, true);
                return;
        }
        text_print(stdout,
                   words_counted("Ended after %zu observation, %s and %.1f %% of the battery: %s.",
                                 "Ended after %zu observations, %s and %.1f %% of the battery: %s.",
                                 state->observations),
                   state->observations, estimate_span_text(state->hours, span, sizeof(span)), state->used_percent,
                   _(state->stopped));
        if (fit) {
                print_profile(fit, profile);
                print_validation(progress, fit);
        }
        flush();
}
