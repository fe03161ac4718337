/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The profile writer of joulecast-fit, in a process of its own if root runs the test, else in this process. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "fit/profile-writer.h"
#include "util/util.h"

static char folder[] = "/tmp/joulecast-writer-XXXXXX", path[64];

/* A profile with @n coefficients, whose covariance makes the file large. */
static struct profile *large_profile(size_t n)
{
        struct profile *profile = NULL;

        check_int(profile_new("large", 10000, &profile), 0);
        for (size_t i = 0; i < n; i++) {
                struct coefficient coefficient = { .term = TERM_DISPLAY, .point = 1000000 + (uint32_t)i,
                                                   .value = 100, .standard_error = 1 };

                check_int(profile_add(profile, &coefficient), 0);
                for (size_t j = 0; j < i; j++)
                        profile_set_covariance(profile, i, j, 1.0 / 3);
        }
        return profile;
}

static int put(struct profile *profile, struct written *written)
{
        _cleanup_(profile_writer_end) struct profile_writer writer = { .fd = -1 };

        check_int(profile_writer_start(path, false, &writer), 0);
        return profile_writer_put(&writer, profile, written);
}

/* A profile with [radio wifi] or, without @wifi, with RADIOS_MAX other radios; each radio has a carrier. */
static struct profile *radio_profile(bool wifi)
{
        _cleanup_free_ char *text = NULL;
        struct profile *profile = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        fprintf(out, "[profile]\nversion = 1\ndevice = d\n[battery]\nenergy_full_mwh = 15000\n[base]\npower_mw = 1\n");
        for (int i = 0; i < (wifi ? 1 : RADIOS_MAX); i++) {
                char name[16];

                snprintf(name, sizeof(name), wifi ? "wifi" : "r%d", i);
                fprintf(out, "[radio %s]\ninitial = a\n[radio %s a]\npower_mw = 1\nafter = 9 b\n"
                             "[radio %s b]\npower_mw = 1\n"
                        "[carrier c%s]\nradio = %s\na.after_ms = 3\n", name, name, name, name, name);
        }
        fclose(out);
        check_int(profile_parse(text, strlen(text), "radios", NULL, &profile), 0);
        return profile;
}

/* Sections kept from the previous profile do not make more radios than a profile may have. */
static void too_many_radios(void)
{
        _cleanup_(profile_freep) struct profile *others = radio_profile(false), *wifi = radio_profile(true),
                                                *again = NULL;
        struct written first = { 0 }, second = { 0 };

        check_int(put(others, &first), 0);
        check_int(put(wifi, &second), 0);
        check_int(profile_load(path, NULL, &again), 0);
        check(again && radio_find(&again->radios, "wifi"));
        check(again && again->radios.n == RADIOS_MAX && again->radios.n_carriers == RADIOS_MAX);
        if (second.kept)
                unlink(second.kept);
        free(first.path);
        free(first.kept);
        free(second.path);
        free(second.kept);
        unlink(path);
}

int main(void)
{
        _cleanup_(profile_freep) struct profile *large = large_profile(250), *again = NULL;
        _cleanup_(profile_freep) struct profile *too_large = large_profile(PROFILE_COEFFICIENTS_MAX);
        struct written written = { 0 };
        struct stat st;

        if (!mkdtemp(folder))
                return 1;
        snprintf(path, sizeof(path), "%s/profile.ini", folder);

        check_int(put(too_large, &written), -EFBIG);
        check(stat(path, &st) < 0 && errno == ENOENT);

        check_int(put(large, &written), 0);
        check_text(written.path, path);
        check(stat(path, &st) == 0 && st.st_size > 2 << 20);
        check_int(profile_load(path, NULL, &again), 0);
        check(again && again->n_coefficients == large->n_coefficients);

        free(written.path);
        free(written.kept);
        unlink(path);
        too_many_radios();
        check_int(rmdir(folder), 0);
        return check_result();
}
