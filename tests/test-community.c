/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines of uploads, rates of one client, and what sums over clients say. */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "community/drop.h"
#include "community/client-rates.h"
#include "community/client-sums.h"
#include "community/upload.h"
#include "util/util.h"

#define CLIENT "0123456789abcdef0123456789abcdef"
#define MINUTE_NS 60000000000

static const char header_line[] = "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":5,\"os\":\"debian\",\"model\":null,"
                                  "\"features\":{\"wifi\":[1,{}]},\"more\":-1.5e3,\"apps\":{\"2\":\"vi\",\"10\":\"f\\u00f6x\"}}";

static void check_headers(void)
{
        static const char no_features[] = "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":0,\"features\":null,\"apps\":{}}";
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
        check_int(upload_read_header(no_features, strlen(no_features), &header, &why), 0);
        check(!header.features);
        upload_header_clear(&header);
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
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2],\"asleep\":true}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":true,\"apps\":[],\"own_mj\":{\"2\":1}}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":4,\"asleep\":true}",
                "{\"t\":2,\"t2\":1,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":true}",
                "{\"t\":0,\"t2\":2678400000000001,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":true}",
                "{\"t\":-9000000000000000000,\"t2\":9000000000000000000,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":true}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":true,\"asleep\":true}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":1}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":false}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":tru",
                "{\"t\":NaN,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2]}",
        };
        static const char line[] = " {\"t\":1700000000123456789, \"t2\":1700000060123456789,\"level_ppm\":500000,"
                                   "\"level2_ppm\":499000.0,\"apps\":[\"10\",2],\"own_mj\":{\"2\":70}}\r";
        static const char asleep[] = "{\"t\":1,\"asleep\":true,\"t2\":172800000000001,\"level_ppm\":3,\"level2_ppm\":2}";
        static const char awake[] = "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2],\"asleep\":false}";
        static const char without[] = "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2],\"own_mj\":null,\"parts_mj\":null}";
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
        check_int(upload_read_sample(without, strlen(without), &header, &sample, &why), 0);
        check_int((int64_t)sample.n_own, 0);
        check_int(upload_read_sample(asleep, strlen(asleep), &header, &sample, &why), 0);
        check(sample.asleep && sample.n_apps == 0);
        check_int(upload_read_sample(awake, strlen(awake), &header, &sample, &why), 0);
        check(!sample.asleep && sample.n_apps == 1);
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                why = NULL;
                check_int(upload_read_sample(wrong[i], strlen(wrong[i]), &header, &sample, &why), -EINVAL);
                check(why != NULL);
        }
        upload_header_clear(&header);
}

/* Ten minutes each; the app costs as much again as all else. */
/* What was packed comes out again; and nothing else than that is read. */
static void check_packed(const struct rate_sample *samples, const struct client_sums *sums)
{
        struct client_rates rates = { .n = 0 };
        int64_t s1, s2;
        uint8_t *bytes;
        size_t length;

        check_int(client_rates_pack(samples, sums, &bytes, &length), 0);
        check_int(client_rates_read(bytes, length, &rates), 0);
        check_int(rates.n, 10);
        check_int(rates.n_apps, 1);
        check_int(rates.apps[0].app, 7);
        check_int(rates.apps[0].ms, 5 * 600000);
        check_int(rates.apps[0].own_n, 2);
        check_int(rates.apps[0].own_ms, 2 * 600000);
        check_int(rates.apps[0].own_mj, 200 + 300);
        check_int(rates.apps[0].part_mj[COMPONENT_WIFI], 375); /* 150 of 200, so of 500 */
        client_rates_sum(&rates, &s1, &s2);
        check_int(s1, sums->s1);
        check_int(s2, sums->s2);
        check_int(rates.apps[0].s2, sums->apps[0].s2);
        check_int(rates.apps[0].x, sums->apps[0].x);
        check_int(rates.n_contexts, 1);
        check(!rates.coarse);
        for (int i = 0; i < 10; i++) {
                check_int(rates.list[i].rate, i % 2 ? 20000 : 10000);
                check_int(rates.list[i].apps[0], i % 2);
        }
        for (size_t i = 0; i < length; i++)
                check_int(client_rates_read(bytes, i, &rates), -EBADMSG);
        bytes[length - 1] |= 2; /* a second app, of which there is none */
        check_int(client_rates_read(bytes, length, &rates), -EBADMSG);
        client_rates_clear(&rates);
        free(bytes);
}

/* As a report does it. */
static int64_t slice_packed(const struct rate_sample *samples, const struct client_sums *sums, const struct prior *prior)
{
        struct client_rates rates = { .n = 0 };
        uint8_t *bytes;
        size_t length;
        int64_t sum;

        check_int(client_rates_pack(samples, sums, &bytes, &length), 0);
        check_int(client_rates_read(bytes, length, &rates), 0);
        check(rates.coarse == client_sums_coarse(sums));
        sum = client_rates_slice(rates.list, rates.n, prior);
        client_rates_clear(&rates);
        free(bytes);
        return sum;
}

static void check_sums(void)
{
        static const int64_t app[] = { 7 }, own[] = { 200, 300 }, parts[] = { COMPONENT_WIFI, 150 };
        struct rate_sample samples[12];
        struct client_sums sums;

        for (int i = 0; i < 10; i++)
                samples[i] = (struct rate_sample){ .t_ns = i * 10 * MINUTE_NS, .t2_ns = (i + 1) * 10 * MINUTE_NS, .seq = i,
                                                   .level_ppm = 900007, .level2_ppm = 900007 - (i % 2 ? 12000 : 6000),
                                                   .apps = app, .n_apps = i % 2 };
        samples[1].own_mj = &own[0];
        samples[1].parts = parts;
        samples[1].n_parts = 1;
        samples[5].own_mj = &own[1];
        samples[10] = samples[3]; /* the same under another number */
        samples[10].seq = 20;
        samples[11] = (struct rate_sample){ .t_ns = 200 * MINUTE_NS, .t2_ns = 201 * MINUTE_NS, .level_ppm = 900000,
                                            .level2_ppm = 100000 };
        check_int(client_sums_make(samples, 12, &sums), 0);
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
        check_packed(samples, &sums);
        client_sums_clear(&sums);
}

/* Suspends are summed apart: one over an awake sample changes nothing of it, one over another suspend counts once. */
static void check_asleep(void)
{
        struct rate_sample samples[] = {
                { .t_ns = 0, .t2_ns = 10 * MINUTE_NS, .level_ppm = 900000, .level2_ppm = 890000 },
                { .t_ns = 5 * MINUTE_NS, .t2_ns = 485 * MINUTE_NS, .level_ppm = 900000, .level2_ppm = 850000, .asleep = true },
                { .t_ns = 400 * MINUTE_NS, .t2_ns = 800 * MINUTE_NS, .level_ppm = 900000, .level2_ppm = 100000, .asleep = true },
                { .t_ns = 500 * MINUTE_NS, .t2_ns = 501 * MINUTE_NS, .level_ppm = 900000, .level2_ppm = 100000, .asleep = true },
                { .t_ns = 600 * MINUTE_NS, .t2_ns = 1080 * MINUTE_NS, .level_ppm = 850000, .level2_ppm = 850000, .asleep = true },
        };
        struct client_sums sums;

        check_int(client_sums_make(samples, ARRAY_SIZE(samples), &sums), 0);
        check_int(sums.n, 1);
        check_int(sums.s1, 16666);
        check_int(sums.asleep.n, 2);
        check_int(sums.asleep.ms, INT64_C(16) * 3600 * 1000);
        check_int(sums.asleep.ppm, 50000);
        check_int(sums.overlapping, 1);
        check_int(sums.fast, 1);
        client_sums_clear(&sums);
}

/* From -1 to 1: the same in each run. */
static double draw(void)
{
        static uint32_t state = 1;

        state = state * 1664525 + 1013904223;
        return state / 2147483648.0 - 1;
}

/* About a normal deviate: Irwin and Hall's sum of twelve. */
static double draw_normal(void)
{
        double sum = 0;

        for (int i = 0; i < 12; i++)
                sum += draw() / 2;
        return sum;
}

/* Nine readings of a gauge of 5 %, as in the paper, on 1000 devices whose rates, levels and times differ. */
static void check_many_coarse(void)
{
        struct prior prior = { .n = { 0 } };
        double worst = 0, sum = 0;
        int inside = 0;

        for (int i = 0; i < 200000; i++) {
                int64_t rate = llround(17000 * exp(0.47 * draw_normal()));

                prior.n[rate / PRIOR_BIN]++;
                prior.s1[rate / PRIOR_BIN] += rate;
        }
        for (int device = 0; device < 1000; device++) {
                double mean = 17000 * exp(0.25 * draw_normal()), level = 1e6 * (0.9 + 0.1 * draw()), truth = 0, seconds = 0;
                struct rate_sample samples[8];
                struct client_sums sums;

                for (int i = 0; i < 8; i++) {
                        double span_s = 3600 * (1 + 0.5 * draw()), rate = mean * exp(0.4 * draw_normal() - 0.08);
                        double after = MAX(level - rate * span_s / 1e3, 0);

                        samples[i] = (struct rate_sample){ .t_ns = llround(seconds * 1e9), .seq = i,
                                                           .t2_ns = llround((seconds + span_s) * 1e9),
                                                           .level_ppm = (int32_t)ceil(level / 50000) * 50000,
                                                           .level2_ppm = (int32_t)ceil(after / 50000) * 50000 };
                        truth += (level - after) / span_s * 1e3 / 8;
                        seconds += span_s;
                        level = after;
                }
                check_int(client_sums_make(samples, 8, &sums), 0);
                if (client_sums_coarse(&sums) && sums.n == 8) {
                        double error = fabs((double)slice_packed(samples, &sums, &prior) / 8 - truth);

                        inside += error <= 9000;
                        sum += error / 1000;
                        worst = MAX(worst, error);
                }
                client_sums_clear(&sums);
        }
        printf("9 readings of a 5 %% gauge: of 1000 mean rates, %d are within 0.0009 %%/s; mean error %.5f %%/s, "
               "greatest %.5f %%/s\n", inside, sum * 1e-7, worst * 1e-7);
        check(inside >= 990);
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

                samples[i] = (struct rate_sample){ .t_ns = (int64_t)(i * 67.5 * MINUTE_NS),
                                                   .t2_ns = (int64_t)((i + 1) * 67.5 * MINUTE_NS),
                                                   .seq = i, .level_ppm = (int32_t)ceil(before / 50000) * 50000,
                                                   .level2_ppm = (int32_t)ceil(after / 50000) * 50000 };
        }
        check_int(client_sums_make(samples, 8, &sums), 0);
        check(client_sums_coarse(&sums));
        check_int(sums.n, 8);
        check_near((double)slice_packed(samples, &sums, &prior) / (double)sums.n, truth, 9000); /* 0.0009 %/s */
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
        check_asleep();
        check_coarse();
        check_many_coarse();
        check_decision();
        return check_result();
}
