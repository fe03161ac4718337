/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>

#include "util/text.h"
#include "util/units.h"
#include "util/util.h"

struct progress {
        bool json;
        size_t in_pass;  /* gauge: states since the last pass was told */
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

/* At once, for who waits. One who reads us may go; what else goes wrong stays for main() to tell. */
static void flush(void)
{
        if (fflush(stdout) < 0 && errno == EPIPE)
                clearerr(stdout);
}

static void print_json(cJSON *json)
{
        _cleanup_free_ char *text = cJSON_PrintUnformatted(json);

        cJSON_Delete(json);
        if (text)
                puts(text);
        flush();
}

/* Four digits are what people and scripts can use; NaN prints as null. */
static void add(cJSON *json, const char *name, double value)
{
        double scale = fabs(value) >= 100 ? 10 : fabs(value) >= 1 ? 1000 : 10000;

        cJSON_AddNumberToObject(json, name, isfinite(value) ? round(value * scale) / scale : NAN);
}

static const char *span_text(double hours, char *buf, size_t size)
{
        long minutes = lround(hours * 60);

        if (!isfinite(hours))
                snprintf(buf, size, "?");
        else if (minutes < 60)
                snprintf(buf, size, "%ld min", minutes);
        else
                snprintf(buf, size, "%ld h %02ld min", minutes / 60, minutes % 60);
        return buf;
}

void progress_begin(struct progress *progress, const struct run *run)
{
        struct run_estimate estimate = run_estimate(&run->description, &run->plan, run->method,
                                                        run->options);
        char span[32];
        cJSON *json;

        if (!progress->json && run->n_before) {
                printf("Going on with %s by %s after %zu observations, from %.0f %%\n",
                       run->description.device, run->record.method, run->n,
                       run->runner.look.capacity_percent);
                flush();
                return;
        }
        if (!progress->json) {
                text_print(stdout,
                           "Calibrating %s by %s%s, from %.0f %%: about %zu observations, %s, %.*f %% of the "
                           "battery",
                           run->description.device, run->record.method,
                           run->plan.sapp ? " (SApp's plan)" : "", run->runner.look.capacity_percent,
                           estimate.observations, span_text(estimate.hours, span, sizeof(span)),
                           estimate.percent < 10, estimate.percent);
                flush();
                return;
        }
        json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "device", run->description.device);
        cJSON_AddStringToObject(json, "method", run->record.method);
        cJSON_AddStringToObject(json, "plan", run->record.plan);
        cJSON_AddNumberToObject(json, "run", (double)run->record.id);
        cJSON_AddBoolToObject(json, "resumed", run->n_before > 0);
        cJSON_AddNumberToObject(json, "observations", (double)run->n);
        add(json, "percent", run->runner.look.capacity_percent);
        add(json, "expected_hours", estimate.hours);
        add(json, "expected_percent", estimate.percent);
        print_json(json);
}

static double power_mw(const struct run *run, const struct observation *observation)
{
        double hours = (double)observation->elapsed_ns / (double)NS_PER_S / 3600;
        double full_mwh = observation->charge_full_uah * observation->voltage_mv / 1e6;

        if (observation->method == METHOD_GAUGE)
                return observation->power_mw;
        if (isnan(full_mwh))
                full_mwh = run->description.energy_full_mwh;
        return observation->steps / 100 * full_mwh / hours;
}

static void observation_json(const struct run *run, const struct observation *observation)
{
        cJSON *json = cJSON_CreateObject();

        cJSON_AddNumberToObject(json, "sequence", observation->sequence);
        cJSON_AddNumberToObject(json, "pass", observation->pass);
        cJSON_AddStringToObject(json, "mode", observation->mode);
        cJSON_AddStringToObject(json, "kind", observation->kind);
        add(json, "seconds", (double)observation->elapsed_ns / (double)NS_PER_S);
        add(json, "power_mw", power_mw(run, observation));
        add(json, "percent", run->runner.look.capacity_percent);
        if (observation->rejected[0])
                cJSON_AddStringToObject(json, "rejected", observation->rejected);
        add(json, "half_width_percent", run->judgement.half_width_percent);
        add(json, "battery_percent_used", run_used_percent(run));
        add(json, "hours", run_hours(run));
        add(json, "hours_left", run_hours_left(run));
        print_json(json);
}

static const char *known_text(const struct run *run, const char *before, char *buf, size_t size)
{
        double half_width = run->judgement.half_width_percent;

        *buf = '\0';
        if (!isnan(half_width))
                snprintf(buf, size, "%sknown to %.1f %%", before, half_width);
        return buf;
}

/* One line each; a gauge's dwells are many and short, so a pass makes one line. */
static void observation_line(struct progress *progress, const struct run *run,
                             const struct observation *observation)
{
        char known[32], left[32], power[32] = "";
        double mw = power_mw(run, observation);

        progress->in_pass += observation->rejected[0] == '\0';
        if (observation->rejected[0]) {
                printf("         %-28s left out: %s\n", observation->mode, observation->rejected);
        } else if (run->method != METHOD_GAUGE) {
                if (!isnan(mw))
                        snprintf(power, sizeof(power), "%.0f mW", mw);
                printf("  %3.0f %%  %-28s %8s  %-16s %s left\n", run->runner.look.capacity_percent,
                       observation->mode, power, known_text(run, "", known, sizeof(known)),
                       span_text(run_hours_left(run), left, sizeof(left)));
        }
        flush();
}

void progress_pass(struct progress *progress, const struct run *run)
{
        char known[32], left[32];

        if (!progress || progress->json)
                return;
        printf("  pass %u of %u: %zu states%s; %s left\n", run->pass + 1,
               MAX(run->options->passes, run->pass + 1), progress->in_pass,
               known_text(run, ", ", known, sizeof(known)),
               span_text(run_hours_left(run), left, sizeof(left)));
        flush();
        progress->in_pass = 0;
}

void progress_observation(struct progress *progress, const struct run *run,
                          const struct observation *observation)
{
        if (!progress)
                return;
        if (progress->json)
                observation_json(run, observation);
        else
                observation_line(progress, run, observation);
}

void progress_paused(struct progress *progress, const struct run *run, const char *reason)
{
        cJSON *json;

        if (!progress)
                return;
        if (!progress->json) {
                printf("  %3.0f %%  %s%s\n", run->runner.look.capacity_percent,
                       reason ? "paused: " : "going on", reason ? reason : "");
                flush();
                return;
        }
        json = cJSON_CreateObject();
        cJSON_AddBoolToObject(json, "paused", reason != NULL);
        if (reason)
                cJSON_AddStringToObject(json, "reason", reason);
        add(json, "percent", run->runner.look.capacity_percent);
        add(json, "hours", run_hours(run));
        print_json(json);
}

void progress_wifi(struct progress *progress, const struct run *run, bool back, double retry_s)
{
        char span[32], text[96] = "its access point is back";
        cJSON *json;

        if (!progress)
                return;
        if (!progress->json) {
                if (!back && isfinite(retry_s))
                        snprintf(text, sizeof(text),
                                 "no access point to use; its states wait, and are tried again in %s",
                                 span_text(retry_s / 3600, span, sizeof(span)));
                else if (!back)
                        snprintf(text, sizeof(text),
                                 "no access point to use; its states are left out from now on");
                printf("  %3.0f %%  WiFi: %s\n", run->runner.look.capacity_percent, text);
                flush();
                return;
        }
        json = cJSON_CreateObject();
        cJSON_AddBoolToObject(json, "wifi", back);
        if (!back)
                add(json, "retry_seconds", retry_s);
        add(json, "percent", run->runner.look.capacity_percent);
        add(json, "hours", run_hours(run));
        print_json(json);
}

/* To the letter of the design: other programs read this line. */
static void done_json(const struct run *run, const struct fit_result *fit, bool done)
{
        cJSON *json = cJSON_CreateObject();

        cJSON_AddBoolToObject(json, "done", done);
        add(json, "battery_percent_used", run_used_percent(run));
        add(json, "hours", run_hours(run));
        cJSON_AddNumberToObject(json, "observations", (double)run->n);
        cJSON_AddBoolToObject(json, "validated", fit && fit->validated);
        cJSON_AddStringToObject(json, "stopped", run->stopped ? run->stopped : "");
        print_json(json);
}

void progress_interrupted(struct progress *progress, const struct run *run)
{
        if (progress->json)
                done_json(run, NULL, false);
}

static void print_validation(const struct fit_result *fit)
{
        if (fit->validated)
                text_print(stdout, "Validated: mixtures that it never saw came out as it predicts.");
        else if (fit->off.mode[0])
                text_print(stdout,
                           "Not validated: %s, which it never saw, drew %.0f mW where it predicts %.0f +- "
                           "%.0f mW.",
                           fit->off.mode, fit->off.measured_mw, fit->off.predicted_mw,
                           fit->off.half_width_mw);
        else
                text_print(stdout, "Not validated: there were no mixtures to check it by.");
}

void progress_done(struct progress *progress, const struct run *run, const struct fit_result *fit,
                   const char *profile)
{
        char span[32];

        if (progress->json) {
                done_json(run, fit, true);
                return;
        }
        text_print(stdout, "Ended after %zu observations, %s and %.1f %% of the battery: %s.", run->n,
                   span_text(run_hours(run), span, sizeof(span)), run_used_percent(run),
                   run->stopped);
        if (fit) {
                printf("The profile is in %s\n", profile);
                print_validation(fit);
        }
        flush();
}
