/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines of uploads, and the rates of one client. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "draw.h"
#include "shared/client-rates.h"
#include "shared/client-sums.h"
#include "shared/upload.h"
#include "util/util.h"

#define CLIENT "0123456789abcdef0123456789abcdef"
#define MINUTE_NS 60000000000

static const char header_line[] = "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":5,\"os\":\"debian\",\"model\":null,"
                                  "\"features\":{\"wifi\":[1,"
                                  "{}]},\"more\":-1.5e3,\"apps\":{\"2\":\"vi\",\"10\":\"f\\u00f6x\"}}";

static void check_headers(void)
{
        static const char no_features[] =
                "{\"v\":1,\"client\":\"" CLIENT "\",\"first\":0,\"features\":null,\"apps\":{}}";
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
                ("{\"t\":-9000000000000000000,\"t2\":9000000000000000000,\"level_ppm\":3,"
                 "\"level2_ppm\":2,\"asleep\":true}"),
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":true,\"asleep\":true}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":1}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":false}",
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"asleep\":tru",
                "{\"t\":NaN,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2]}",
        };
        static const char line[] = " {\"t\":1700000000123456789, \"t2\":1700000060123456789,\"level_ppm\":500000,"
                                   "\"level2_ppm\":499000.0,\"apps\":[\"10\",2],\"own_mj\":{\"2\":70}}\r";
        static const char asleep[] =
                "{\"t\":1,\"asleep\":true,\"t2\":172800000000001,\"level_ppm\":3,\"level2_ppm\":2}";
        static const char awake[] = "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2],\"asleep\":false}";
        static const char without[] =
                "{\"t\":1,\"t2\":2,\"level_ppm\":3,\"level2_ppm\":2,\"apps\":[2],\"own_mj\":null,\"parts_mj\":null}";
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

/* Packed rates are read back unchanged, and no other bytes are accepted. */
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
        check_int(client_rates_sum(&rates, &s1, &s2), 0);
        check_int(s1, sums->s1);
        check_int(s2, sums->s2);
        check_int(rates.apps[0].s2, sums->apps[0].s2);
        check_near(rates.mean, 15000, 1e-6);
        check_near((double)rates.uses[0].weight, 2.5, 1e-6);
        check_near((double)rates.uses[0].with, 4.0 / 3, 1e-6);
        check_near((double)rates.uses[0].without, 2.0 / 3, 1e-6);
        check_int(rates.n_contexts, 1);
        check(!rates.coarse);
        for (int i = 0; i < 10; i++) {
                check_int(rates.list[i].rate, i % 2 ? 20000 : 10000);
                check_int(rates.list[i].apps[0], i % 2);
        }
        for (size_t i = 0; i < length; i++)
                check_int(client_rates_read(bytes, i, &rates), -EBADMSG);
        bytes[length - 1] |= 2; /* a second app, which does not exist */
        check_int(client_rates_read(bytes, length, &rates), -EBADMSG);
        client_rates_clear(&rates);
        free(bytes);
}

static void check_sums(void)
{
        static const int64_t app[] = { 7 }, own[] = { 200, 300 }, parts[] = { COMPONENT_WIFI, 150 };
        struct rate_sample samples[12];
        struct client_sums sums;

        for (int i = 0; i < 10; i++)
                samples[i] = (struct rate_sample){ .t_ns = i * 10 * MINUTE_NS,
                                                   .t2_ns = (i + 1) * 10 * MINUTE_NS,
                                                   .seq = i,
                                                   .level_ppm = 900007,
                                                   .level2_ppm = 900007 - (i % 2 ? 12000 : 6000),
                                                   .apps = app,
                                                   .n_apps = i % 2 };
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
        check_packed(samples, &sums);
        client_sums_clear(&sums);
}

/* Rates are packed by the time of day, so that neighbours are of the same hours. */
static void check_hours_packed(void)
{
        static const int hours[] = { 10, 24 + 9, 48 + 11, 72 + 8 }, sorted[] = { 3, 1, 0, 2 };
        struct client_rates rates = { .n = 0 };
        struct rate_sample samples[4];
        struct client_sums sums;
        uint8_t *bytes;
        size_t length;

        for (int i = 0; i < 4; i++)
                samples[i] = (struct rate_sample){ .t_ns = hours[i] * 60 * MINUTE_NS, .seq = i,
                                                   .t2_ns = (hours[i] * 60 + 10) * MINUTE_NS, .level_ppm = 900007,
                                                   .level2_ppm = 900007 - 6000 * (i + 1) };
        check_int(client_sums_make(samples, 4, &sums), 0);
        check_int(client_rates_pack(samples, &sums, &bytes, &length), 0);
        check_int(client_rates_read(bytes, length, &rates), 0);
        for (int i = 0; i < 4; i++)
                check_int(rates.list[i].rate, 10000 * (sorted[i] + 1));
        client_rates_clear(&rates);
        client_sums_clear(&sums);
        free(bytes);
}

/* Suspends are summed apart: one over an awake sample changes nothing of it, one over another suspend counts once. */
static void check_asleep(void)
{
        struct rate_sample samples[] = {
                { .t_ns = 0, .t2_ns = 10 * MINUTE_NS, .level_ppm = 900000, .level2_ppm = 890000 },
                { .t_ns = 5 * MINUTE_NS,
                  .t2_ns = 485 * MINUTE_NS,
                  .level_ppm = 900000,
                  .level2_ppm = 850000,
                  .asleep = true },
                { .t_ns = 400 * MINUTE_NS,
                  .t2_ns = 800 * MINUTE_NS,
                  .level_ppm = 900000,
                  .level2_ppm = 100000,
                  .asleep = true },
                { .t_ns = 500 * MINUTE_NS,
                  .t2_ns = 501 * MINUTE_NS,
                  .level_ppm = 900000,
                  .level2_ppm = 100000,
                  .asleep = true },
                { .t_ns = 600 * MINUTE_NS,
                  .t2_ns = 1080 * MINUTE_NS,
                  .level_ppm = 850000,
                  .level2_ppm = 850000,
                  .asleep = true },
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

/*
 * Devices with a gauge of 5 or 10 %, whose rates differ by a factor of 5, over ten charges that begin full or
 * somewhere: slow and fast ones have the mean rate that is true.
 */
static void check_coarse(void)
{
        static const double bases[] = { 8000, 17000, 40000 };

        for (int i = 0; i < 12; i++) {
                const double step = i % 2 ? 50000 : 100000, base = bases[i % 3];
                double ratio = 0;

                for (int device = 0; device < 40; device++) {
                        double seconds = 0, drops = 0, spans = 0;
                        struct rate_sample samples[200];
                        struct client_sums sums;
                        size_t n = 0;

                        for (int charge = 0; charge < 10; charge++) {
                                double level = i < 6 ? 1e6 : 1e6 * (0.95 + 0.05 * draw());

                                while (n < 200) {
                                        double span = 2100 * (1 + 0.7 * draw());
                                        double after = level - base * exp(0.3 * draw_normal()) * span / 1e3;

                                        if (after < 1e5)
                                                break;
                                        samples[n] = (struct rate_sample){
                                                .t_ns = llround(seconds * 1e9),
                                                .t2_ns = llround((seconds + span) * 1e9),
                                                .seq = (int64_t)n,
                                                .level_ppm = (int32_t)(ceil(level / step) * step),
                                                .level2_ppm = (int32_t)(ceil(after / step) * step)
                                        };
                                        n++;
                                        drops += level - after;
                                        spans += span;
                                        seconds += span;
                                        level = after;
                                }
                                seconds += 30000;
                        }
                        check_int(client_sums_make(samples, n, &sums), 0);
                        check(client_sums_coarse(&sums));
                        ratio += (double)sums.s1 / (double)sums.n / (drops / spans * 1e3) / 40;
                        client_sums_clear(&sums);
                }
                check_near(ratio, 1, 0.03);
        }
}

/* Nine readings of a gauge of 5 %, as in the paper, on 1000 devices whose rates, levels and times differ. */
static void check_many_coarse(void)
{
        double worst = 0, sum = 0;
        int inside = 0;

        for (int device = 0; device < 1000; device++) {
                double mean = 17000 * exp(0.25 * draw_normal()), level = 1e6 * (0.9 + 0.1 * draw()),
                       truth = 0, seconds = 0;
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
                        double error = fabs((double)sums.s1 / 8 - truth);

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

/* Within a stratum an app costs nothing, though it is in use mostly where the other stratum costs more. */
static void check_strata(void)
{
        static const uint8_t with[] = { 1 }, without[] = { 0 };
        static const uint32_t one[] = { 0, 0 }, two[] = { 0, 1 };
        struct client_rate list[20];
        struct app_sums app = { .app = 7 };
        struct client_rates rates = { .apps = &app, .n_apps = 1, .list = list, .n = 20 };
        int64_t s1, s2;

        for (uint32_t i = 0; i < 20; i++) {
                bool bright = i % 2;

                list[i] = (struct client_rate){ .rate = bright ? 20000 : 10000, .context = bright, .span = 1,
                                                .apps = (bright ? i > 4 : i < 4) ? with : without };
        }
        client_rates_stratify(&rates, one);
        check_int(client_rates_sum(&rates, &s1, &s2), 0);
        check((double)rates.uses[0].with > 1.4 * (double)rates.uses[0].without);
        app = (struct app_sums){ .app = 7 };
        client_rates_stratify(&rates, two);
        check_int(client_rates_sum(&rates, &s1, &s2), 0);
        check_near((double)rates.uses[0].with, (double)rates.uses[0].without, 1e-6);
        check_near((double)rates.uses[0].weight, 2.0 * 8 / 10 + 8.0 * 2 / 10, 1e-6);
        free(rates.tallies);
        free(rates.uses);
        free(rates.errors);
}

/* A coarse gauge whose steps are as large as the mean rate leaves a client three eighths of its weight. */
static void check_noise(void)
{
        struct client_rate list[20];
        struct client_rates rates = { .list = list, .n = 20 };

        for (int i = 0; i < 20; i++)
                list[i] = (struct client_rate){ .rate = i % 2 ? 15e3 : 5e3, .high = i % 2 ? 25e3 : 15e3, .span = 1 };
        check_near(client_rates_noise(&rates).discount, 1, 1e-9);
        rates.coarse = true;
        check_near(client_rates_noise(&rates).mean, 10000, 1e-9);
        check_near(client_rates_noise(&rates).spread, 0.25, 1e-9);
        check_near(client_rates_noise(&rates).discount, 0.375, 1e-9);
}

int main(void)
{
        check_headers();
        check_samples();
        check_sums();
        check_hours_packed();
        check_asleep();
        check_coarse();
        check_many_coarse();
        check_strata();
        check_noise();
        return check_result();
}
