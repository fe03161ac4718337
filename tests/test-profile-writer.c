/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What writes a profile for joulecast-fit: as a process of its own where root started the test, else in this one. */

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"
#include "fit/profile-writer.h"
#include "util/util.h"

static char folder[] = "/tmp/joulecast-writer-XXXXXX", path[64];

/* The covariance of so many coefficients fills the file. */
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

        check_int(profile_writer_start(path, &writer), 0);
        return profile_writer_put(&writer, profile, written);
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
        rmdir(folder);
        return check_result();
}
