/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines of uploads, rates of one client, and what sums over clients say. */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "community/drop.h"
#include "community/client-sums.h"
#include "community/upload.h"
#include "util/util.h"

#define CLIENT "0123456789abcdef0123456789abcdef"
#define MINUTE_NS 60000000000

static const char header_line[] = "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":5,\"os\":\"debian\",\"model\":null,"
                                  "\"features\":{\"wifi\":[1,{}]},\"more\":-1.5e3,\"apps\":{\"2\":\"vi\",\"10\":\"f\\u00f6x\"}}";

static void check_headers(void)
{
        static const char *const wrong[] = {
                "", "{}", "[1]", "{\"v\":1}",
                "{\"v\":2,\"client\":\"" CLIENT "\",\"first\":0,\"apps\":{}}",
                "{\"v\":1,\"client\":\"" CLIENT "0\",\"first\":0,\"apps\":{}}",
                "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":-1,\"apps\":{}}",
                "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":0,\"apps\":{\"1\":\"\"}}",
                "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":0,\"apps\":{\"1\":\"a\\u0007\"}}",
                "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":0,\"apps\":{\"1\":\"a\",\"1\":\"b\"}}",
                "{\"v\":1,\"v\":1,\"client\":\"" CLIENT "\",\"first\":0,\"apps\":{}}",
                "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":0,\"apps\":{}} x",
                "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":0,\"apps\":{},\"x\":[[[[[[[[[[[[1]]]]]]]]]]]]}",
        };
        struct upload_header header;
        const char *why;

        check_int(upload_read_header(header_line, strlen(header_line), &header, &why), 0);
        check_text(header.client, CLIENT);
        check_int(header.first, 5);
        check_text(header.os, "debian");
        check_text(header.model, "");
        check_text(header.features, "{\"wifi\":[1,{}]}");
        check_int(header.n_apps, 2);
        check_text(header.apps[0].name, "f\303\266x");
        upload_header_clear(&header);
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                why = NULL;
                check_int(upload_read_header(wrong[i], strlen(wrong[i]), &header, &why), -EINVAL);
                check(why != NULL);
        }
        check(upload_is_header(header_line, strlen(header_line)));
        check(!upload_is_header("{\"t\":1}", 7));
}

static void check_samples(void)
{
        static const char *const wrong[] = {
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2}",
                "{\"t\":1,\"t2\":1,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[]}",
                "{\"t\":0,\"t2\":86400000000001,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[]}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":4,\"apps\":[]}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":1000001,\"level2_ppm\":4,\"apps\":[]}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[1]}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2,]}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2],\"own_mj\":{\"2\":-1}}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2]",
                "{\"t\":9e300,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2]}",
                "{\"t\":NaN,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2]}",
        };
        static const char line[] = " {\"t\":1700000000123456789, \"t2\":1700000060123456789,\"level_ppm\":500000,"
                                   "\"level2_ppm\":499000.0,\"apps\":[\"10\",2],\"own_mj\":{\"2\":70}}\r";
        static struct upload_sample sample;
        struct upload_header header;
        const char *why;

        check_int(upload_read_header(header_line, strlen(header_line), &header, &why), 0);
        check_int(upload_read_sample(line, strlen(line), &header, &sample, &why), 0);
        check_int(sample.t2_ns, 1700000060123456789);
        check_int(sample.level2_ppm, 499000);
        check_int(sample.n_apps, 2);
        check_int(sample.apps[0], 0);
        check_int(sample.apps[1], 1);
        check_int(sample.own[0].mj, 70);
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                why = NULL;
                check_int(upload_read_sample(wrong[i], strlen(wrong[i]), &header, &sample, &why), -EINVAL);
                check(why != NULL);
        }
        upload_header_clear(&header);
}

/* Ten minutes each; the app costs as much again as all else. */
static void check_sums(void)
{
        static const int64_t app[] = { 7 };
        struct rate_sample samples[12];
        struct client_sums sums;

        for (int i = 0; i < 10; i++)
                samples[i] = (struct rate_sample){ .t_ns = i * 10 * MINUTE_NS, .t2_ns = (i + 1) * 10 * MINUTE_NS, .seq = i,
                                                   .level_ppm = 900007, .level2_ppm = 900007 - (i % 2 ? 12000 : 6000),
                                                   .apps = app, .n_apps = i % 2 };
        samples[10] = samples[3]; /* the same under another number */
        samples[10].seq = 20;
        samples[11] = (struct rate_sample){ .t_ns = 200 * MINUTE_NS, .t2_ns = 201 * MINUTE_NS, .level_ppm = 900000, .level2_ppm = 100000 };
        check_int(client_sums_make(samples, 12, NULL, &sums), 0);
        check_int(sums.n, 10);
        check_int(sums.overlapping, 1);
        check_int(sums.fast, 1);
        check_int(sums.s1, 5 * 10000 + 5 * 20000);
        check_int(sums.step_ppm, 1);
        check_int(sums.n_apps, 1);
        check_int(sums.apps[0].n, 5);
        check_int(sums.apps[0].s1, 5 * 20000);
        check_int(sums.apps[0].w, 16 * 5 * 5 / 10);
        check_int(sums.apps[0].wa, 13653); /* 40 * 256 * 4 / 3 */
        check_int(sums.apps[0].wb, 6827); /* and * 2 / 3 */
        check_near((double)sums.apps[0].x / 256 / 40, 2.0 / 3, 1e-3);
        client_sums_clear(&sums);
}

/* The paper's experiment: nine readings of a gauge of 5 %, over nine hours, of a device that others are like. */
static void check_coarse(void)
{
        struct rate_sample samples[8];
        struct prior prior = { .n = { 0 } };
        const double truth = 21000;
        struct client_sums sums;

        for (int i = 0; i < 40; i++) {
                prior.n[i] = 100;
                prior.s1[i] = (int64_t)100 * (i * PRIOR_BIN + PRIOR_BIN / 2);
        }
        for (int i = 0; i < 8; i++) {
                double before = 1e6 - truth * 67.5 * 60 * i / 1e3, after = before - truth * 67.5 * 60 / 1e3;

                samples[i] = (struct rate_sample){ .t_ns = (int64_t)(i * 67.5 * MINUTE_NS), .t2_ns = (int64_t)((i + 1) * 67.5 * MINUTE_NS),
                                                   .seq = i, .level_ppm = (int32_t)ceil(before / 50000) * 50000,
                                                   .level2_ppm = (int32_t)ceil(after / 50000) * 50000 };
        }
        check_int(client_sums_make(samples, 8, &prior, &sums), 0);
        check(client_sums_coarse(&sums));
        check_int(sums.n, 8);
        check_near((double)sums.s1 / (double)sums.n, truth, 9000); /* 0.0009 %/s */
        client_sums_clear(&sums);
        check_int(prior_slice(&prior, 90000, 100000), -1);
        check_int(prior_slice(&prior, 0, 3999), 1999);
}

static void check_decision(void)
{
        struct drop drops[4] = { { .p = 0.5, .enough = true, .minutes_low = 1 }, { .p = 1e-6, .enough = true, .minutes_low = 1 },
                                 { .p = 1e-7 }, { .p = 2e-6, .enough = true, .minutes_low = -1 } };
        size_t order[4];

        check_near(drop_student_upper(0, 7), 0.5, 1e-12);
        check_near(drop_student_upper(1.812461, 10), 0.05, 1e-6); /* tables of t */
        check_near(drop_student_upper(4.032143, 5), 0.005, 1e-6);
        check_near(drop_student_upper(-2.015048, 5), 0.95, 1e-6);
        for (size_t i = 0; i < 4; i++)
                drops[i].q = drops[i].effect_low = 1;
        drop_decide(drops, 4, order);
        check_near(drops[1].q, 3e-6, 1e-12);
        check_near(drops[3].q, 3e-6, 1e-12);
        check_near(drops[0].q, 0.5, 1e-12);
        check(drops[1].hog && !drops[0].hog && !drops[2].hog && !drops[3].hog);
}

int main(void)
{
        check_headers();
        check_samples();
        check_sums();
        check_coarse();
        check_decision();
        return check_result();
}
