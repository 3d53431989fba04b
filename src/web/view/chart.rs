//! The three charts of a run as ECharts options. Data comes later, from the intervals: a series'
//! `id` says which figure it shows. Colours, formatters and sizes are the browser's (`static/charts.js`).
//!
//! Options are built with charming's types, and completed as JSON where charming 0.6 has no word:
//! `tooltip.renderMode` (`richText` draws on the canvas: HTML tooltips carry style attributes, which
//! the page's content security policy forbids), `dataZoom.zoomOnMouseWheel` (a page must scroll when
//! the pointer is over a chart), `useUTC`, and mark areas at numbers (charming's are category names).

use charming::Chart;
use charming::component::{Aria, Axis, DataZoom, DataZoomType, FilterMode, Grid, Legend};
use charming::element::{
    AreaStyle, AxisPointer, AxisPointerType, AxisType, LineStyle, LineStyleType, Sampling, Symbol, Tooltip, Trigger,
};
use charming::series::Line;
use serde_json::{Value, json};

use crate::model::approx::f64_of;
use crate::model::run::Run;

/// A chart in words, for headings and for those who do not see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description {
    /// A word for scripts: `throughput`, `iops`, `latency`.
    pub id: &'static str,
    /// Its heading, with the unit.
    pub title: &'static str,
    /// What it shows and how to read it.
    pub alt: &'static str,
}

/// The charts, in the order shown.
pub const DESCRIPTIONS: [Description; 3] = [
    Description {
        id: "throughput",
        title: "Throughput, MB/s",
        alt: "Megabytes (10⁶ bytes) read and written per second over the run's own time. A shingled drive whose \
              cache is full falls to a small part of its rate and stays there.",
    },
    Description {
        id: "iops",
        title: "I/Os per second",
        alt: "Reads and writes completed per second over the run's own time. The dents of a busy disk are narrow; \
              a collapse is a step down.",
    },
    Description {
        id: "latency",
        title: "Latency, ms (logarithmic)",
        alt: "Median, 99th percentile and longest time of one I/O within each interval, on a logarithmic scale. \
              A drive that rewrites bands behind the scenes shows single I/Os of seconds.",
    },
];

struct Curve {
    id: &'static str,
    name: &'static str,
    dash: LineStyleType,
    filled: bool,
}

const fn curve(id: &'static str, name: &'static str, dash: LineStyleType, filled: bool) -> Curve {
    Curve { id, name, dash, filled }
}

/// Reads are lines, writes are filled: the two differ without colour. Percentiles differ by dashes.
fn curves(chart: &str) -> Vec<Curve> {
    use LineStyleType::{Dashed, Dotted, Solid};
    match chart {
        "throughput" => {
            vec![curve("read_mb_per_s", "read", Solid, false), curve("write_mb_per_s", "write", Solid, true)]
        }
        "iops" => vec![curve("read_iops", "read", Solid, false), curve("write_iops", "write", Solid, true)],
        _ => vec![
            curve("read_p50_ms", "read p50", Solid, false),
            curve("read_p99_ms", "read p99", Dashed, false),
            curve("read_max_ms", "read max", Dotted, false),
            curve("write_p50_ms", "write p50", Solid, false),
            curve("write_p99_ms", "write p99", Dashed, false),
            curve("write_max_ms", "write max", Dotted, false),
        ],
    }
}

/// `GET /api/v1/runs/{id}/charts`: `{"charts": [{id, title, alt, option}]}`.
#[must_use]
pub fn run_charts(run: &Run) -> Value {
    let areas = areas(run);
    let charts: Vec<Value> = DESCRIPTIONS
        .iter()
        .map(|description| {
            let option = option(description, &areas).unwrap_or(Value::Null);
            json!({ "id": description.id, "title": description.title, "alt": description.alt, "option": option })
        })
        .collect();
    json!({ "charts": charts })
}

fn option(description: &Description, areas: &Value) -> Result<Value, serde_json::Error> {
    let curves = curves(description.id);
    let last = description.id == "latency";
    let y_type = if last { AxisType::Log } else { AxisType::Value };
    let mut chart = Chart::new()
        .animation(false)
        .aria(Aria::new().enabled(true))
        .tooltip(
            Tooltip::new()
                .trigger(Trigger::Axis)
                .axis_pointer(AxisPointer::new().type_(AxisPointerType::Line).animation(false)),
        )
        .legend(
            Legend::new()
                .data(curves.iter().map(|curve| curve.name).collect::<Vec<_>>())
                .top(0)
                .right(0)
                .item_width(28)
                .item_height(10),
        )
        .grid(Grid::new().left(64).right(14).top(30).bottom(if last { 68 } else { 26 }))
        .x_axis(Axis::new().type_(AxisType::Time).min(0))
        .y_axis(Axis::new().type_(y_type).split_number(4))
        // Zooming one chart zooms all, so all have both, shown or not.
        .data_zoom(DataZoom::new().id("inside").type_(DataZoomType::Inside).filter_mode(FilterMode::Filter))
        .data_zoom(
            DataZoom::new()
                .id("slider")
                .type_(DataZoomType::Slider)
                .filter_mode(FilterMode::Filter)
                .show(last)
                .brush_select(false)
                .bottom(8),
        );
    for curve in &curves {
        let mut line = Line::new()
            .id(curve.id)
            .name(curve.name)
            .symbol(Symbol::None)
            .show_symbol(false)
            .connect_nulls(false)
            // Keeps the peaks and the dents of every pixel.
            .sampling(Sampling::Minmax)
            .line_style(LineStyle::new().width(1.4).type_(curve.dash));
        if curve.filled {
            line = line.area_style(AreaStyle::new().opacity(0.18));
        }
        chart = chart.series(line);
    }
    // Phases hang on a series of their own, so that hiding a curve does not hide them.
    chart = chart.series(Line::new().id("phases").name("phases").symbol(Symbol::None).silent(true));
    // So does what the host spoilt, over them; which intervals that are, the browser knows from them.
    chart = chart.series(Line::new().id("spoilt").name("spoilt by the host").symbol(Symbol::None).silent(true));

    let mut option = serde_json::to_value(&chart)?;
    if !last {
        // Room above the curves for the names of the phases.
        option["yAxis"]["boundaryGap"] = json!([0, "18%"]);
    }
    option["useUTC"] = json!(true);
    option["tooltip"]["renderMode"] = json!("richText");
    option["tooltip"]["confine"] = json!(true);
    option["dataZoom"][0]["zoomOnMouseWheel"] = json!("ctrl");
    option["dataZoom"][0]["moveOnMouseWheel"] = json!(false);
    if let Some([.., phases, spoilt]) = option["series"].as_array_mut().map(Vec::as_mut_slice) {
        phases["markArea"] = json!({ "silent": true, "data": areas });
        spoilt["markArea"] = json!({ "silent": true, "data": [] });
    }
    Ok(option)
}

/// The phases that have begun, as `[from, to]` on the run's clock, alternating in shade.
fn areas(run: &Run) -> Value {
    // Narrower than this a name would run into its neighbour's.
    const SMALLEST_NAMED: f64 = 0.09;
    let whole_ms = (run.progress.elapsed_s * 1e3).max(1.0);
    let began = run.phases.iter().filter_map(|outcome| Some((outcome, outcome.started_t_ms?)));
    let areas: Vec<Value> = began
        .enumerate()
        .map(|(position, (outcome, started))| {
            let phase = usize::try_from(outcome.phase).ok().and_then(|index| run.plan.phases.get(index));
            let until = outcome.ended_t_ms.map_or(whole_ms, f64_of);
            let named = (until - f64_of(started)) / whole_ms >= SMALLEST_NAMED;
            let end = outcome.ended_t_ms.map_or_else(|| json!("max"), |ended| json!(ended));
            json!([
                {
                    "name": phase.map_or("", |phase| phase.name.as_str()),
                    "xAxis": started,
                    "label": { "show": named },
                    "shade": position % 2,
                },
                { "xAxis": end },
            ])
        })
        .collect();
    Value::Array(areas)
}
