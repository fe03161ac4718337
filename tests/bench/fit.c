/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * fit OBSERVATIONS.db: from one night's observations to a profile,
 * validation included, in CPU time; median of many.
 */

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "observation/observation.h"
#include "fit/refit.h"

#define FITS 51

static double cpu_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
        double one = *(const double *)a, other = *(const double *)b;

        return one < other ? -1 : one > other;
}

static int measure(const struct observation_run *run, const struct observation *observations, size_t n)
{
        double took_ms[FITS];
        char error[256] = "";

        for (int i = 0; i < FITS; i++) {
                struct outcome outcome = { 0 };
                double began = cpu_ms();
                int err = refit_regression(run, observations, n, &outcome, error, sizeof(error));

                took_ms[i] = cpu_ms() - began;
                outcome_clear(&outcome);
                if (err < 0) {
                        fprintf(stderr, "fit: %s\n", error);
                        return err;
                }
        }
        qsort(took_ms, FITS, sizeof(took_ms[0]), compare);
        printf("one fit of %3zu observations, %-8s                      %9.1f ms   goal     10 ms   %s\n", n,
               run->method, took_ms[FITS / 2], took_ms[FITS / 2] <= 10 ? "met" : "MISSED");
        return 0;
}

int main(int argc, char **argv)
{
        struct observations *database = NULL;
        struct observation_run *runs = NULL;
        struct observation *list = NULL;
        size_t n_runs = 0, n = 0;
        int err;

        gsl_set_error_handler_off();
        if (argc != 2)
                return 2;
        err = observations_open(argv[1], false, NULL, &database);
        if (err == 0)
                err = observations_runs(database, &runs, &n_runs);
        if (err == 0 && n_runs == 0)
                err = -1;
        if (err == 0)
                err = observations_read(database, runs[n_runs - 1].id, &list, &n);
        if (err == 0)
                err = measure(&runs[n_runs - 1], list, n);
        for (size_t i = 0; i < n; i++)
                observation_clear(&list[i]);
        free(list);
        for (size_t i = 0; i < n_runs; i++)
                free(runs[i].description);
        free(runs);
        observations_close(database);
        return err < 0;
}
