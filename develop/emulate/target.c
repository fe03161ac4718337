/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "util/offer.h"
#include "util/paths.h"
#include "util/util.h"

#define BENCH_WORDS_MAX 3
#define VIDEO_MW_MAX 1e5
#define CHANNELS_MW_MAX 1e5
#define USUAL_PIXELS "1280x800"

/* A path of the user, or a profile that comes with joulecast. 0, or a negative errno after its sentence. */
static int find_profile(const char *name, const struct log *log, char **ret)
{
        _cleanup_free_ char *folder = NULL, *path = NULL, *names = NULL;
        char printable[PROFILE_NAME_MAX];
        int err = paths_data("profiles", &folder);

        if (err < 0)
                return err;
        if (asprintf(&path, "%s/%s.ini", folder, name) < 0)
                return -ENOMEM;
        if (strchr(name, '/') || access(path, F_OK) < 0) {
                free(path);
                path = strdup(name);
                if (!path)
                        return -ENOMEM;
        }
        if (access(path, F_OK) < 0) {
                names = offer_list(folder);
                for (char *at = names; at && *at; at++)
                        *at = *at == '\n' ? ' ' : *at;
                log_error(log, "there is no target %s; use a profile's file, or one of: %s",
                          util_printable(name, printable, sizeof(printable)), names ? names : "");
                return -ENOENT;
        }
        *ret = TAKE_PTR(path);
        return 0;
}

static int load_radios(const char *name, const struct log *log, struct radios *ret)
{
        _cleanup_free_ char *folder = NULL, *path = NULL;
        bool others;

        if (paths_data("radios", &folder) < 0 || asprintf(&path, "%s/%s.ini", folder, name) < 0)
                return -ENOMEM;
        return radio_load(path, log, ret, &others);
}

/* Does its power depend on the signal? */
static bool knows_signal(const struct radio *radio)
{
        for (size_t i = 0; i < radio->n_states; i++)
                if (!isnan(radio->states[i].signal_mw[RADIO_SIGNAL_LOW].value))
                        return true;
        return false;
}

/* The profile's own radio, unless a carrier, or another signal than a high one, is wanted that it does not know. */
static int choose_radio(struct target *target, const struct network *network, const char *carrier, bool signal,
                        const struct log *log)
{
        const char *kind = network->kind == NETWORK_WIFI ? "wifi" : "cellular";
        const struct radio *own = radio_find(&target->profile->radios, kind);
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        int err;

        if (own && !carrier && (!signal || knows_signal(own) || network->kind == NETWORK_WIFI)) {
                err = radio_with_carrier(&target->profile->radios, kind, NULL, &target->radio);
                target->has_radio = err == 0;
                return err;
        }
        if (!*network->radio)
                return 0;
        err = load_radios(network->radio, log, &radios);
        if (err)
                return err;
        carrier = carrier ? carrier : *network->carrier ? network->carrier : NULL;
        err = radio_with_carrier(&radios, network->radio, carrier, &target->radio);
        if (err == -ESRCH)
                log_error(log, "there is no carrier %.60s of the radio %s; see joulecast price-packets, and "
                               "data/radios", carrier,
                          network->radio);
        else if (err)
                log_error(log, "the network's radio %s cannot be used: %s", network->radio, strerror(-err));
        target->has_radio = err == 0;
        return err;
}

static enum radio_signal signal_of(const char *name)
{
        for (int s = 0; name && s < RADIO_SIGNALS; s++)
                if (strcmp(name, radio_signals[s]) == 0)
                        return (enum radio_signal)s;
        return RADIO_SIGNAL_HIGH;
}

/* Parses "225 349 670": the powers of red, green and blue of a self-lit panel. 0; -EINVAL. */
static int read_channels(const char *text, struct target_screen *screen)
{
        double mw[3], sum;
        int end = 0;

        if (sscanf(text, "%lf %lf %lf%n", &mw[0], &mw[1], &mw[2], &end) != 3 || text[end] || !(mw[0] >= 0) ||
            !(mw[1] >= 0) || !(mw[2] >= 0))
                return -EINVAL;
        sum = mw[0] + mw[1] + mw[2];
        if (!(sum > 0) || sum > CHANNELS_MW_MAX)
                return -EINVAL;
        for (int c = 0; c < 3; c++)
                screen->parts[c] = mw[c] / sum;
        screen->channels_mw = sum;
        return 0;
}

/*
 * x-emission_percent, which a calibration writes, x-emission_rgb, x-channel_mw and x-pixels of [display], and
 * x-video_mw of [profile]. 0; -EINVAL after its sentence.
 */
static int read_screen(const struct profile *profile, const struct log *log, struct target_screen *ret)
{
        const char *emission = profile_extra(profile, "display", "x-emission_percent");
        const char *rgb = profile_extra(profile, "display", "x-emission_rgb");
        const char *channels = profile_extra(profile, "display", "x-channel_mw");
        const char *pixels = profile_extra(profile, "display", "x-pixels");
        const char *video = profile_extra(profile, "profile", "x-video_mw");
        struct target_screen screen = { .emission = NAN,
                                        .parts = { 1.0 / 3, 1.0 / 3, 1.0 / 3 },
                                        .channels_mw = NAN,
                                        .pixels = USUAL_PIXELS };
        unsigned width, height;
        double percent;
        int end = 0;

        if (emission && util_parse_double(emission, &percent) == 0)
                screen.emission = fmax(0, fmin(1, percent / 100));
        if (rgb &&
            (sscanf(rgb, "%lf %lf %lf%n", &screen.parts[0], &screen.parts[1], &screen.parts[2], &end) != 3 ||
             rgb[end] || !(screen.parts[0] >= 0 && screen.parts[1] >= 0 && screen.parts[2] >= 0) ||
             fabs(screen.parts[0] + screen.parts[1] + screen.parts[2] - 1) > 0.01)) {
                log_error(log, "x-emission_rgb of the target's profile is not three parts with a sum of 1: %.60s", rgb);
                return -EINVAL;
        }
        if (channels && read_channels(channels, &screen) < 0) {
                log_error(log, "x-channel_mw of the target's profile is not three powers in mW, of red, green and "
                               "blue: %.60s", channels);
                return -EINVAL;
        }
        if (video && (util_parse_double(video, &screen.video_mw) < 0 || !(screen.video_mw >= 0) ||
                      screen.video_mw > VIDEO_MW_MAX)) {
                log_error(log, "x-video_mw of the target's profile is not a power in mW: %.60s", video);
                return -EINVAL;
        }
        if (pixels && (sscanf(pixels, "%4ux%4u%n", &width, &height, &end) != 2 || pixels[end] ||
                       width < 100 || height < 100)) {
                log_error(log, "x-pixels of the target's profile is not a size such as 1080x1920: %.60s", pixels);
                return -EINVAL;
        }
        if (pixels)
                snprintf(screen.pixels, sizeof(screen.pixels), "%.9s", pixels);
        *ret = screen;
        return 0;
}

int target_radios(const struct network *network, const struct log *log, struct radios *ret)
{
        *ret = (struct radios){ 0 };
        return *network->radio ? load_radios(network->radio, log, ret) : 0;
}

int target_load(const char *name, const struct network *network, const char *carrier, const char *signal,
                const struct log *log, struct target *ret)
{
        struct target target = { .signal = signal_of(signal) };
        _cleanup_free_ char *path = NULL;
        int err = find_profile(name, log, &path);

        if (!err)
                err = profile_load(path, log, &target.profile);
        if (!err) {
                snprintf(target.name, sizeof(target.name), "%s", target.profile->device);
                for (size_t i = 0; i < target.profile->n_policies; i++)
                        target.cpus += target.profile->policies[i].n_cpus;
                target.cpus = MAX(target.cpus, 1u);
                err = read_screen(target.profile, log, &target.screen);
        }
        if (!err)
                err = choose_radio(&target, network, carrier, target.signal != RADIO_SIGNAL_HIGH, log);
        if (err)
                target_clear(&target);
        else
                *ret = target;
        return err;
}

void target_clear(struct target *target)
{
        profile_free(target->profile);
        if (target->has_radio)
                radio_clear(&target->radio);
        *target = (struct target){ 0 };
}

/* "SPEED [LOW HIGH]". 1; 0: the profile does not have it; -EINVAL after its sentence. */
static int read_bench(const struct profile *profile, const char *kernel, const struct log *log,
                      double ret[BENCH_WORDS_MAX])
{
        char key[32], copy[128], *rest = copy, *word;
        const char *text;
        size_t n = 0;

        snprintf(key, sizeof(key), "x-bench-%s", kernel);
        text = profile_extra(profile, "profile", key);
        if (!text)
                return 0;
        snprintf(copy, sizeof(copy), "%s", text);
        while ((word = strsep(&rest, " \t")))
                if (*word && (n == BENCH_WORDS_MAX || util_parse_double(word, &ret[n++]) < 0))
                        n = BENCH_WORDS_MAX + 1;
        if (n == 1)
                ret[1] = ret[2] = ret[0];
        if ((n != 1 && n != BENCH_WORDS_MAX) || !(ret[1] > 0) || !(ret[1] <= ret[0]) || !(ret[0] <= ret[2])) {
                log_error(log, "%s of the target's profile is not a speed above 0, or a speed, the lowest "
                               "and the highest: %.60s",
                          key, text);
                return -EINVAL;
        }
        return 1;
}

int target_factor(const struct target *target, const double *speed, const struct log *to, struct factor *ret)
{
        struct factor factor = { 1, INFINITY, 0, .spread = NAN };
        double sum = 0, least = INFINITY, most = 0;
        size_t n = 0;

        for (int k = 0; k < BENCH_KERNELS; k++) {
                double bench[BENCH_WORDS_MAX];
                int found = read_bench(target->profile, bench_kinds[k].name, to, bench);

                if (found < 0)
                        return found;
                if (!found)
                        continue;
                sum += log(speed[k] / bench[0]);
                least = fmin(least, speed[k] / bench[0]);
                most = fmax(most, speed[k] / bench[0]);
                factor.low = fmin(factor.low, speed[k] / bench[2]);
                factor.high = fmax(factor.high, speed[k] / bench[1]);
                n++;
        }
        if (n == 0)
                factor.low = factor.high = 1;
        else
                factor.value = exp(sum / (double)n);
        factor.known = n > 0;
        if (n > 1)
                factor.spread = most / least;
        *ret = factor;
        return 0;
}
