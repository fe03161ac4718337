/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>

#include "pcapng.h"
#include "util/units.h"
#include "util/util.h"

#define LENGTH_MAX (1u << 20)          /* the kernel joins packets to 512 KiB at most */

const bool capture_supported = true;

struct capture {
        pcap_t *pcap; /* NULL: it is pcapng */
        struct pcapng *pcapng;
        FILE *file; /* the file, where it is pcapng */
        const char *name;
        const struct log *log;
        enum capture_link link;
        size_t n;
};

int capture_link(int type, enum capture_link *ret)
{
        static const struct {
                int type;
                enum capture_link link;
        } links[] = {
                { DLT_RAW, CAPTURE_IP },
                { 14, CAPTURE_IP },
                { 101, CAPTURE_IP },
                { DLT_IPV4, CAPTURE_IP },
                { DLT_IPV6, CAPTURE_IP },
                { DLT_EN10MB, CAPTURE_ETHERNET },
                { DLT_LINUX_SLL, CAPTURE_COOKED },
                { DLT_LINUX_SLL2, CAPTURE_COOKED_2 },
                { DLT_NULL, CAPTURE_LOOPBACK },
                { DLT_LOOP, CAPTURE_LOOPBACK },
        };

        for (size_t i = 0; i < ARRAY_SIZE(links); i++)
                if (links[i].type == type) {
                        *ret = links[i].link;
                        return 0;
                }
        return -EPROTONOSUPPORT;
}

int capture_open(FILE *file, const char *name, const struct log *log, struct capture **ret)
{
        char reason[PCAP_ERRBUF_SIZE];
        struct capture *capture = calloc(1, sizeof(*capture));
        const char *type;

        if (!capture)
                return -ENOMEM;
        *capture = (struct capture){ .name = name, .log = log };
        if (pcapng_is(file)) {
                capture->file = file;
                *ret = capture;
                return pcapng_new(file, name, log, &capture->pcapng) < 0 ? (capture_close(capture), -ENOMEM) : 0;
        }
        capture->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
        if (!capture->pcap) {
                log_error(log, "%s cannot be read: %s", name, reason);
                if (file != stdin)
                        fclose(file);
                free(capture);
                return -EINVAL;
        }
        if (capture_link(pcap_datalink(capture->pcap), &capture->link) < 0) {
                type = pcap_datalink_val_to_name(pcap_datalink(capture->pcap));
                log_error(log,
                          "%s was captured on a link of type %d (%s); only Ethernet, IP, loopback and "
                          "tcpdump -i any are known",
                          name, pcap_datalink(capture->pcap), type ? type : "?");
                capture_close(capture);
                return -EPROTONOSUPPORT;
        }
        *ret = capture;
        return 0;
}

bool capture_is_ordered(const struct capture *capture)
{
        return !capture->pcapng;
}

bool capture_may_tell(const struct capture *capture)
{
        return capture->pcapng || capture->link == CAPTURE_COOKED || capture->link == CAPTURE_COOKED_2;
}

/* False after a sentence. */
static bool is_possible(const struct capture *capture, uint32_t length, size_t kept)
{
        if (length <= LENGTH_MAX && kept <= length)
                return true;
        log_error(capture->log, "%s is damaged: packet %zu has a time or a length that is not possible",
                  capture->name, capture->n);
        return false;
}

int capture_next(struct capture *capture, struct captured *ret)
{
        struct pcap_pkthdr *header;
        const uint8_t *bytes;
        int64_t seconds;
        int got;

        if (capture->pcapng) {
                got = pcapng_next(capture->pcapng, capture->n, ret);
                capture->n += got == 1;
                return got == 1 && !is_possible(capture, ret->length, ret->kept) ? -EINVAL : got;
        }
        got = pcap_next_ex(capture->pcap, &header, &bytes);
        if (got == PCAP_ERROR_BREAK)
                return 0;
        capture->n++;
        if (got != 1) {
                log_error(capture->log, "%s cannot be read from packet %zu on: %s", capture->name, capture->n,
                          pcap_geterr(capture->pcap));
                return -EINVAL;
        }
        seconds = header->ts.tv_sec < 0 ? header->ts.tv_sec + (INT64_C(1) << 32)
                                        : header->ts.tv_sec; /* 32 bits without a sign */
        if (seconds < 0 || seconds >= CAPTURE_SECONDS_MAX || header->ts.tv_usec < 0 ||
            header->ts.tv_usec >= (long)NS_PER_S) {
                log_error(capture->log, "%s is damaged: packet %zu has a time or a length that is not "
                                        "possible", capture->name,
                          capture->n);
                return -EINVAL;
        }
        if (!is_possible(capture, header->len, header->caplen))
                return -EINVAL;
        *ret = (struct captured){ seconds * (int64_t)NS_PER_S + header->ts.tv_usec, header->len, header->caplen,
                                  bytes, capture->link };
        return 1;
}

void capture_close(struct capture *capture)
{
        if (!capture)
                return;
        if (capture->pcap)
                pcap_close(capture->pcap);
        pcapng_free(capture->pcapng);
        if (capture->file && capture->file != stdin)
                fclose(capture->file);
        free(capture);
}

void capture_closep(struct capture **capture)
{
        capture_close(*capture);
}

struct capture_writer {
        pcap_t *pcap;
        pcap_dumper_t *dumper;
        char *bytes;
        size_t length, kept_max;
};

int capture_writer_new(size_t kept_max, struct capture_writer **ret)
{
        struct capture_writer *writer = calloc(1, sizeof(*writer));
        FILE *stream;

        if (!writer)
                return -ENOMEM;
        writer->kept_max = kept_max;
        stream = open_memstream(&writer->bytes, &writer->length);
        writer->pcap = pcap_open_dead_with_tstamp_precision(DLT_RAW, (int)kept_max, PCAP_TSTAMP_PRECISION_NANO);
        writer->dumper = stream && writer->pcap ? pcap_dump_fopen(writer->pcap, stream) : NULL;
        if (writer->dumper) {
                *ret = writer;
                return 0;
        }
        if (stream)
                fclose(stream);
        if (writer->pcap)
                pcap_close(writer->pcap);
        free(writer->bytes);
        free(writer);
        return -ENOMEM;
}

void capture_writer_add(struct capture_writer *writer, const struct captured *packet)
{
        const struct pcap_pkthdr header = {
                /* Nanoseconds, as in the file. */
                .ts = { packet->time_ns / (int64_t)NS_PER_S, packet->time_ns % (int64_t)NS_PER_S },
                .caplen = (uint32_t)MIN(packet->kept, writer->kept_max), .len = packet->length,
        };

        pcap_dump((uint8_t *)writer->dumper, &header, packet->bytes);
}

int capture_writer_end(struct capture_writer *writer, char **ret, size_t *ret_length)
{
        int err = pcap_dump_flush(writer->dumper) < 0 || ferror(pcap_dump_file(writer->dumper)) ? -ENOMEM : 0;

        pcap_dump_close(writer->dumper);
        pcap_close(writer->pcap);
        if (err)
                free(writer->bytes);
        else {
                *ret = writer->bytes;
                *ret_length = writer->length;
        }
        free(writer);
        return err;
}
