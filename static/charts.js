// Draws what the server describes (/api/v1/runs/{id}/charts) with ECharts, in the page's colours.
import { clock, figure, latency } from './format.js';

/** A custom property as a colour that a canvas understands: light-dark() must be resolved first. */
function colour(name) {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** As an axis has it, and with its unit. */
const valueOf = (id, value) => (id === 'latency' ? latency(value) : figure(value));
const told = (id, value) => valueOf(id, value) + ({ throughput: ' MB/s', iops: ' IOPS' }[id] ?? '');

export class Charts {
  constructor(phaseNames) {
    this.charts = [];
    this.phaseNames = phaseNames;
    document.addEventListener('themechange', () => this.paintTheme());
    new ResizeObserver(() => this.fit()).observe(document.querySelector('main'));
  }

  /** On a narrow page the legend takes a second line, and the axis less room. */
  fit() {
    for (const { id, view } of this.charts) {
      view.resize();
      const narrow = view.getWidth() < 560;
      view.setOption({
        grid: { top: narrow && id === 'latency' ? 54 : 30, left: narrow ? 52 : 64 },
        xAxis: { splitNumber: narrow ? 2 : 6 },
      });
    }
  }

  /** Makes the charts, or gives those that are there newer phases. */
  describe(description) {
    for (const { id, option } of description.charts) {
      const known = this.charts.find((chart) => chart.id === id);
      if (known) {
        known.option.series = option.series;
        this.paintTheme();
        continue;
      }
      const place = document.querySelector(`[data-chart="${id}"]`);
      if (!place || !option) continue;
      place.replaceChildren();
      const view = echarts.init(place, null, { renderer: 'canvas' });
      this.charts.push({ id, option, view });
      view.setOption(option);
      this.link(view);
    }
    this.paintTheme();
    this.fit();
  }

  /** One pointer and one zoom for all. Not by echarts.connect(): it passes a pointer on as "series 0,
   *  point n", and hides it where that series has a gap, which is half of every run. */
  link(view) {
    const others = () => this.charts.map((chart) => chart.view).filter((other) => other !== view);
    view.getZr().on('mousemove', () => { this.leader = view; });
    view.on('updateAxisPointer', ({ axesInfo }) => {
      if (this.leader !== view) return;
      for (const other of others()) {
        const x = axesInfo.length ? other.convertToPixel({ xAxisIndex: 0 }, axesInfo[0].value) : null;
        other.dispatchAction(x == null ? { type: 'hideTip' } : { type: 'showTip', x, y: other.getHeight() / 2 });
      }
    });
    view.getZr().on('globalout', () => others().forEach((other) => other.dispatchAction({ type: 'hideTip' })));
    view.on('datazoom', () => {
      const { start, end } = view.getOption().dataZoom[0];
      for (const other of others()) {
        const zoom = other.getOption().dataZoom[0];
        // Equal already: the way back of our own message.
        if (zoom.start !== start || zoom.end !== end) other.dispatchAction({ type: 'dataZoom', start, end });
      }
    });
  }

  /** Colours and words: what a description in JSON cannot hold. */
  paintTheme() {
    const [ink, muted, rule, surface, a, b] = ['--ink', '--muted', '--rule', '--surface', '--phase-a', '--phase-b'].map(colour);
    const side = { read: colour('--read'), write: colour('--write') };
    const font = getComputedStyle(document.body).fontFamily;
    const axis = { axisLine: { lineStyle: { color: rule } }, axisTick: { lineStyle: { color: rule } }, axisLabel: { color: muted, fontFamily: font, hideOverlap: true } };
    for (const { id, option, view } of this.charts) {
      view.setOption({
        textStyle: { fontFamily: font },
        legend: { textStyle: { color: ink }, inactiveColor: muted, itemStyle: { opacity: 0 } },
        tooltip: {
          backgroundColor: surface, borderColor: rule, textStyle: { color: ink, fontFamily: font, fontSize: 12 },
          formatter: (items) => this.tip(id, items),
        },
        xAxis: { ...axis, axisLabel: { ...axis.axisLabel, formatter: clock }, splitLine: { show: false } },
        yAxis: { ...axis, axisLabel: { ...axis.axisLabel, formatter: (v) => valueOf(id, v).replace(/\.0+(?= |$)/, '') }, splitLine: { lineStyle: { color: rule, opacity: 0.6 } } },
        dataZoom: [{ id: 'slider', borderColor: rule, fillerColor: colour('--fade'), handleStyle: { color: surface, borderColor: muted }, moveHandleStyle: { color: muted }, showDataShadow: false, textStyle: { color: muted }, labelFormatter: clock }],
        series: option.series.map((series) => {
          if (series.id === 'phases') {
            const data = series.markArea.data.map(([from, to]) => [{ ...from, itemStyle: { color: from.shade ? a : b } }, to]);
            return { id: 'phases', markArea: { silent: true, data, label: { color: muted, fontFamily: font, fontSize: 11, position: 'insideTop' } } };
          }
          if (series.id === 'spoilt') return { id: 'spoilt', markArea: { itemStyle: { color: colour('--undecided'), opacity: 0.22 } } };
          const main = side[series.id.split('_')[0]];
          return { id: series.id, itemStyle: { color: main }, lineStyle: { color: main } };
        }),
      });
    }
  }

  tip(id, items) {
    const some = items.filter((item) => item.value?.[1] != null);
    if (!some.length) return '';
    const lines = some.map((item) => `${item.marker}${item.seriesName}  ${told(id, item.value[1])}`);
    return [clock(some[0].value[0]), ...lines].join('\n');
  }

  /** New data, and a legend of those curves only that have any. */
  paint(points) {
    const spoilt = points.spoilt().map(([from, to]) => [{ xAxis: from }, { xAxis: to }]);
    for (const { id, option, view } of this.charts) {
      const curves = option.series.filter((series) => !['phases', 'spoilt'].includes(series.id));
      const used = curves.filter((series) => points.has(series.id));
      view.setOption({
        legend: { data: used.map((series) => series.name) },
        series: [
          ...curves.map((series) => ({ id: series.id, data: points.series(series.id) })),
          { id: 'spoilt', markArea: { data: spoilt } },
        ],
      }, { lazyUpdate: true });
      const now = document.querySelector(`[data-chart-now="${id}"]`);
      const last = points.newest;
      if (now && last) {
        const some = used.filter((series) => last[series.id] != null);
        now.textContent = some.length ? `Last: ${some.map((series) => `${series.name} ${told(id, last[series.id])}`).join(', ')}.` : '';
      }
    }
  }
}
